public import Events

/// The answer for an instant as it was known from one instant of our clock on.
public struct KnownAnswer: Hashable, Sendable {
    /// The first instant at which this was known.
    public let knownFrom: Instant
    /// The answer.
    public let answer: AccessAnswer
    /// Start of the first purchase that was known; nil if none was.
    public let firstPurchase: Instant?
}

extension Timeline {
    /// Who else pays for the purchase of a period; nil if its owner does (Apple's data: trap 33).
    public func sharing(of period: ActivePeriod) -> Sharing? {
        purchases.first { purchase in
            purchase.sharing != nil && purchase.purchaseDate == period.purchaseDate
                && byBytes(purchase.productId, period.productId) == nil
        }?.sharing
    }
}
