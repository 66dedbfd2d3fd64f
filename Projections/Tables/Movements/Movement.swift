public import Events

/// Something that counts in the accounts of a business: a start, a renewal, money, a loss.
public struct Movement: Hashable, Sendable {
    /// The subscription, or the one-time purchase.
    public let stream: StreamID
    /// The kind of movement.
    public let kind: Kind
    /// Apple's name for it in Sales and Trends (Apple's data: report events); nil if Apple has
    /// none.
    public let appleEvent: String?
    /// Apple's name for its sub type in the App Store Subscription Event report of App Analytics;
    /// nil if Apple has none, or the data that Apple signs does not determine it.
    public let appleSubType: String?
    /// Whether it is the first purchase of the subscription.
    let isInitial: Bool
    /// When, on Apple's clock.
    public let occurred: Instant
    /// The product; for a requested change, the requested one.
    public let productId: String
    /// The previous product; nil if none was replaced.
    public let previousProductId: String?
    /// Start of the purchase it is about, in whole seconds.
    public let purchaseDate: Instant
    /// Natural end of that purchase, in whole seconds; nil if it never expires.
    public let expiresDate: Instant?
    /// The amount charged (positive) or refunded (negative) in milliunits; nil if no money moved,
    /// or if the amount was never stated.
    public let amountMilliunits: Int64?
    /// ISO 4217; nil if it was never stated.
    public let currency: String?
    /// Whether it belongs to a family member, so it brings no money (Apple's data: trap 33).
    public var isFamilyShared: Bool { sharing == .family }
    /// Who else pays for it, so it brings no money; nil if its owner does.
    package let sharing: Sharing?
    /// How many seats were bought, added or taken back; nil unless it is about seats.
    public let seatQuantity: Int64?
    /// Whether it is a purchase after a lapse.
    public let isResubscribe: Bool
    /// Why a subscription ended, in Apple's words; nil for other movements, and if Apple did not
    /// state a reason.
    public let expirationReason: ExpirationReason?
    /// The events that caused the row, ascending, without duplicates; they depend on the order of
    /// arrival.
    public let positions: [Position]

    /// The kind of movement; at the same instant in this order.
    public enum Kind: String, CaseIterable, Sendable {
        /// A purchase with an offer that the previous one did not have.
        case offerStart = "offer_start"
        /// A purchase without an offer that does not continue the subscription.
        case paidStart = "paid_start"
        /// The next period of the same offer.
        case offerRenewal = "offer_renewal"
        /// The first period without an offer after one with an offer.
        case conversion
        /// The next period, without an offer.
        case renewal
        /// Seats added to a period that runs: money, but neither a start nor a renewal.
        case seatsAdded = "seats_added"
        /// A purchase that never expires.
        case oneTimePurchase = "one_time_purchase"
        /// A product replaced by another one.
        case exitPlanChange = "exit_plan_change"
        /// A charge failed, or the grace after it ended.
        case billingIssueEntered = "billing_issue_entered"
        /// The charge succeeded after all.
        case billingIssueRecovered = "billing_issue_recovered"
        /// Ended by the customer: auto-renewal was off.
        case churnVoluntary = "churn_voluntary"
        /// Ended because nothing could be charged.
        case churnInvoluntary = "churn_involuntary"
        /// Ended because the customer did not agree to a price increase.
        case churnPriceIncrease = "churn_price_increase"
        /// Ended because the product was not available at the renewal.
        case churnProductUnavailable = "churn_product_unavailable"
        /// Ended without a stated reason, or for a reason that Apple calls other.
        case churnUnknown = "churn_unknown"
        /// Money was refunded.
        case exitRefund = "exit_refund"
        /// Family sharing ended.
        case familyRevoke = "family_revoke"
        /// The assignment of a seat ended.
        case assignmentEnded = "assignment_ended"
        /// A refund was reversed.
        case refundReversed = "refund_reversed"
        /// A refund was requested.
        case refundRequested = "refund_requested"
        /// A refund was declined.
        case refundDeclined = "refund_declined"
        /// Apple changed the end of a period.
        case `extension`
        /// Auto-renewal was switched off.
        case autoRenewOff = "auto_renew_off"
        /// Auto-renewal was switched on other than by a purchase.
        case autoRenewOn = "auto_renew_on"
        /// Another product, or another billing plan of the same one, was requested.
        case planChangeScheduled = "plan_change_scheduled"
        /// That request was withdrawn.
        case planChangeCancelled = "plan_change_cancelled"

        var rank: Int { Kind.ranks[self, default: 0] }

        private static let ranks = Dictionary(
            uniqueKeysWithValues: Kind.allCases.enumerated().map { ($1, $0) }
        )
    }
}

extension Movement {
    func isBefore(_ other: Movement) -> Bool {
        if occurred != other.occurred { return occurred < other.occurred }
        if kind != other.kind { return kind.rank < other.kind.rank }
        return purchaseDate < other.purchaseDate
    }
}
