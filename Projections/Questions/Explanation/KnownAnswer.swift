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

extension [KnownAccess] {
    /// The answers for an instant, one for each instant of knowledge, ascending.
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
    /// Who else pays for the purchase of a period; nil if its owner does (Apple's data: trap 33).
    public func sharing(of period: ActivePeriod) -> Sharing? {
        purchases.first { purchase in
            purchase.sharing != nil && purchase.purchaseDate == period.purchaseDate
                && byBytes(purchase.productId, period.productId) == nil
        }?.sharing
    }
}
