public import Events

/// One row of truth: something that counts in the books of a business, as `movements` must tell it.
public struct SimulatedMovement: Hashable, Sendable {
    /// What moved; of one instant, in this order.
    public enum Word: String, CaseIterable, Hashable, Sendable {
        /// A purchase with an offer that the one before did not have.
        case offerStart = "offer_start"
        /// A purchase at the full price after no access.
        case paidStart = "paid_start"
        /// The next period of the same offer.
        case offerRenewal = "offer_renewal"
        /// The first period at the full price after an offer.
        case conversion
        /// The next period at the full price.
        case renewal
        /// A consumable.
        case oneTimePurchase = "one_time_purchase"
        /// A product given up for another one.
        case exitPlanChange = "exit_plan_change"
        /// A charge failed, or grace ran out.
        case billingIssueEntered = "billing_issue_entered"
        /// The charge went through after all.
        case billingIssueRecovered = "billing_issue_recovered"
        /// Ended as the customer wanted it.
        case churnVoluntary = "churn_voluntary"
        /// Ended as nothing could be charged.
        case churnInvoluntary = "churn_involuntary"
        /// Ended as the customer did not agree to a higher price.
        case churnPriceIncrease = "churn_price_increase"
        /// Ended as the product was no longer sold.
        case churnProductUnavailable = "churn_product_unavailable"
        /// Ended, and nobody says why.
        case churnUnknown = "churn_unknown"
        /// Money given back.
        case exitRefund = "exit_refund"
        /// Family sharing withdrawn.
        case familyRevoke = "family_revoke"
        /// A refund undone.
        case refundReversed = "refund_reversed"
        /// A refund asked for.
        case refundRequested = "refund_requested"
        /// A refund refused.
        case refundDeclined = "refund_declined"
        /// The end of a period moved.
        case `extension`
        /// The renewal switch turned off.
        case autoRenewOff = "auto_renew_off"
        /// The renewal switch turned on, not by buying.
        case autoRenewOn = "auto_renew_on"
        /// Another product wanted from the next renewal on.
        case planChangeScheduled = "plan_change_scheduled"
        /// Wanted no longer.
        case planChangeCancelled = "plan_change_cancelled"
    }

    /// What moved.
    public let word: Word
    /// When.
    public let occurred: Instant
    /// The product; of a wish, the one wanted.
    public let productId: String
    /// The product before, where another one takes its place.
    public let previousProductId: String?
    /// The begin of the purchase it is about.
    public let purchaseDate: Instant
    /// The natural end of that purchase; nil for one that has none.
    public let expiresDate: Instant?
    /// Charged, or given back (negative), in thousandths of the currency's unit; 0 for family
    /// members, nil where no money moved.
    public let amountMilliunits: Int64?
    /// Whether it is a purchase after a lapse.
    public let isResubscribe: Bool
}

extension SimulatedMovement: CustomStringConvertible {
    /// One line: when, what, products, begin of the purchase, amount.
    public var description: String {
        "\(occurred) \(word.rawValue) \(productId) \(previousProductId ?? "-")"
            + " \(purchaseDate) \(amountMilliunits.map { String($0) } ?? "-")"
            + (isResubscribe ? " again" : "")
    }
}

extension SubscriptionLife {
    /// The rows that `movements` must have for the subscription once everything was delivered.
    ///
    /// Apple's labels for them are not simulated: they follow from these rows.
    public var movements: [SimulatedMovement] { known?.movements ?? [] }

    /// The rows for somebody who knows what had happened by an instant, as in `periods(asOf:)`.
    public func movements(asOf instant: Instant) -> [SimulatedMovement] {
        known(asOf: instant)?.movements ?? []
    }
}
