package import Events

/// The answer for an instant as it was known from one instant of our clock on.
package struct KnownAnswer: Hashable, Sendable {
    /// The first instant at which this was known.
    package let knownFrom: Instant
    /// The answer.
    package let answer: AccessAnswer
    /// Start of the first purchase that was known; nil if none was.
    package let firstPurchase: Instant?
}

extension Timeline {
    /// Who else pays for the purchase of a period; nil if its owner does (Apple's data: trap 33).
    package func sharing(of period: ActivePeriod) -> Sharing? {
        purchases.first { purchase in
            purchase.sharing != nil && purchase.purchaseDate == period.purchaseDate
                && byBytes(purchase.productId, period.productId) == nil
        }?.sharing
    }
}
