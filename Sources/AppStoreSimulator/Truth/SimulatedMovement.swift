public import Events

/// One expected row of `movements`: something that counts in the books of a business.
public struct SimulatedMovement: Hashable, Sendable {
    /// What moved; movements at the same instant are in this order.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A purchase with an offer that the previous purchase did not have.
        case offerStart = "offer_start"
        /// A purchase at the full price after a time without access.
        case paidStart = "paid_start"
        /// The next period of the same offer.
        case offerRenewal = "offer_renewal"
        /// The first period at the full price after an offer.
        case conversion
        /// The next period at the full price.
        case renewal
        /// Seats added to a period that runs.
        case seatsAdded = "seats_added"
        /// A consumable.
        case oneTimePurchase = "one_time_purchase"
        /// A product replaced by another one.
        case exitPlanChange = "exit_plan_change"
        /// A charge failed, or grace ran out.
        case billingIssueEntered = "billing_issue_entered"
        /// The charge succeeded after all.
        case billingIssueRecovered = "billing_issue_recovered"
        /// Ended by the customer's choice.
        case churnVoluntary = "churn_voluntary"
        /// Ended because the charge failed.
        case churnInvoluntary = "churn_involuntary"
        /// Ended because the customer did not agree to a higher price.
        case churnPriceIncrease = "churn_price_increase"
        /// Ended because the product was no longer sold.
        case churnProductUnavailable = "churn_product_unavailable"
        /// Ended for an unknown reason.
        case churnUnknown = "churn_unknown"
        /// Money refunded.
        case exitRefund = "exit_refund"
        /// Family sharing withdrawn.
        case familyRevoke = "family_revoke"
        /// A seat taken from its member.
        case assignmentEnded = "assignment_ended"
        /// A refund reversed.
        case refundReversed = "refund_reversed"
        /// A refund requested.
        case refundRequested = "refund_requested"
        /// A refund declined.
        case refundDeclined = "refund_declined"
        /// The end of a period extended.
        case `extension`
        /// The renewal switch turned off.
        case autoRenewOff = "auto_renew_off"
        /// The renewal switch turned on, other than by buying.
        case autoRenewOn = "auto_renew_on"
        /// Another product requested for the next renewal.
        case planChangeScheduled = "plan_change_scheduled"
        /// That request withdrawn.
        case planChangeCancelled = "plan_change_cancelled"
    }

    /// What moved.
    public let kind: Kind
    /// When it happened.
    public let occurred: Instant
    /// The product; for a requested change, the requested one.
    public let productId: String
    /// The previous product, if another one replaces it.
    public let previousProductId: String?
    /// The start of the purchase it is about.
    public let purchaseDate: Instant
    /// The natural end of that purchase; nil if it has none.
    public let expiresDate: Instant?
    /// The amount charged, or refunded (negative), in thousandths of the currency's unit; 0 for
    /// members, nil if no money moved.
    public let amountMilliunits: Int64?
    /// Whether it is a purchase after a lapse.
    public let isResubscribe: Bool
}

extension SimulatedMovement: CustomStringConvertible {
    /// One line: when, what, products, start of the purchase, amount.
    public var description: String {
        "\(occurred) \(kind.rawValue) \(productId) \(previousProductId ?? "-")"
            + " \(purchaseDate) \(amountMilliunits.map { String($0) } ?? "-")"
            + (isResubscribe ? " again" : "")
    }
}

extension SubscriptionLife {
    /// The rows that `movements` must have for the subscription once everything was delivered.
    ///
    /// Apple's labels for them are not simulated: they follow from these rows.
    public var movements: [SimulatedMovement] { known?.movements ?? [] }

    /// The rows for a reader who knows what had happened by an instant, as in `periods(asOf:)`.
    public func movements(asOf instant: Instant) -> [SimulatedMovement] {
        known(asOf: instant)?.movements ?? []
    }
}
