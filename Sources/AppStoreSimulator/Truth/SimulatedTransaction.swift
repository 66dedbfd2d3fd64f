public import Events

/// One row of truth: what a purchase means in its subscription, as `transactions` must tell it.
public struct SimulatedTransaction: Hashable, Sendable {
    /// Apple's lowest id of it.
    public let storeTransactionId: String
    /// The product.
    public let productId: String
    /// Its begin.
    public let startTime: Instant
    /// Its natural end.
    public let endTime: Instant
    /// The end of the grace after it; nil where there was none, or nothing of it was left.
    public let gracePeriodEndTime: Instant?
    /// The end of the access, grace included, never before the begin.
    public let effectiveEndTime: Instant
    /// Its place in an unbroken chain, from 1.
    public let renewalNumber: Int
    /// Paid purchases up to this one without a lapse; 0 for a free one.
    public let consecutivePaidPeriods: Int
    /// Whether it follows a free period at a price.
    public let isTrialConversion: Bool
    /// Whether it follows a lapse.
    public let isResubscribe: Bool
    /// The length of that lapse in seconds; nil where there is none.
    public let gapSeconds: Int64?
    /// What kind of change of product it is; nil where it is none.
    public let planChange: SimulatedPlanChange.Class?
    /// The product before a change.
    public let previousProductId: String?
    /// When it was given back; nil where it is not, or no longer.
    public let refundedAt: Instant?
    /// What was paid; nil for family members.
    public let purchasePriceMilliunits: Int64?
    /// What was paid and not given back.
    public let priceMilliunits: Int64?
    /// When Apple first signed that renewal is off, if that still held at the natural end.
    public let unsubscribeDetectedAt: Instant?
    /// When Apple first signed that the renewal after it failed.
    public let billingIssuesDetectedAt: Instant?
}

extension SimulatedTransaction: CustomStringConvertible {
    /// One line of everything.
    public var description: String {
        let instants = [
            gracePeriodEndTime, effectiveEndTime, refundedAt, unsubscribeDetectedAt,
            billingIssuesDetectedAt,
        ].map { $0?.description ?? "-" }.joined(separator: " ")
        let amounts = [gapSeconds, purchasePriceMilliunits, priceMilliunits]
            .map { $0.map { String($0) } ?? "-" }.joined(separator: " ")
        return "\(storeTransactionId) \(productId) \(startTime) \(endTime) \(instants)"
            + " number \(renewalNumber) paid \(consecutivePaidPeriods) \(amounts)"
            + (isTrialConversion ? " conversion" : "") + (isResubscribe ? " again" : "")
            + (planChange.map { " \($0.rawValue) from \(previousProductId ?? "")" } ?? "")
    }
}

extension SubscriptionLife {
    /// The rows that `transactions` must have for the subscription once everything was delivered.
    public var transactions: [SimulatedTransaction] { known?.transactions ?? [] }

    /// The rows for somebody who knows what had happened by an instant, as in `periods(asOf:)`.
    public func transactions(asOf instant: Instant) -> [SimulatedTransaction] {
        known(asOf: instant)?.transactions ?? []
    }
}
