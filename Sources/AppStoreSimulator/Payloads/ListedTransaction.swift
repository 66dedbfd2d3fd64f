public import Events

/// A transaction in a history, in its state at an instant.
public struct ListedTransaction: Sendable {
    /// When Apple last changed it, in calendar time.
    public let modifiedAt: Instant
    /// Its number in the life, which orders transactions that were changed at the same time.
    public let number: Int64
    /// Its id.
    public let transactionId: String
    /// When it was revoked, in calendar time; nil if it was not.
    public let revocationDate: Instant?

    let content: Content

    /// What kind of purchase it is.
    enum Content: Sendable {
        case period(LifeState.Purchase, LifeState)
        case oneTime(LifeState.OneTimePurchase)
    }
}
