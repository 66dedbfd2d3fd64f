public import Events

/// The answer about an instant as it was known from one instant of our clock on.
public struct KnownAnswer: Hashable, Sendable {
    /// From when on this was known.
    public let knownFrom: Instant
    /// The answer.
    public let answer: AccessAnswer
    /// Start of the first purchase that was known; nil where none was.
    public let firstPurchase: Instant?
}

extension [KnownAccess] {
    /// The answers about an instant, one for each instant of knowledge, ascending.
    func answers(at instant: Instant, askedFor stream: StreamID?) -> [KnownAnswer] {
        instants.map { known in
            let starts =
                rows(knownAt: known).map(\.validFrom)
                + oneTimePurchases(knownAt: known).map(\.purchaseDate)
            return KnownAnswer(
                knownFrom: known,
                answer: answer(at: instant, knownAt: known, askedFor: stream),
                firstPurchase: starts.min()
            )
        }
    }
}

extension Timeline {
    /// Whether another member of the family bought what a period is of (Apple's data: trap 33).
    public func isFamilyShared(_ period: ActivePeriod) -> Bool {
        purchases.contains { purchase in
            purchase.isFamilyShared && purchase.purchaseDate == period.purchaseDate
                && byBytes(purchase.productId, period.productId) == nil
        }
    }
}
