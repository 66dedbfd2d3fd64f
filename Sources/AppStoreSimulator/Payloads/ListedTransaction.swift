public import Events

/// A transaction of a history, as it stands at an instant.
public struct ListedTransaction: Sendable {
    /// When Apple last changed it, in calendar time.
    public let modifiedAt: Instant
    /// Its number in the life: what orders transactions that were changed together.
    public let number: Int64
    /// Its id.
    public let transactionId: String
    /// When it was taken back, in calendar time; nil where it was not.
    public let revocationDate: Instant?

    let content: Content

    /// What it is.
    enum Content: Sendable {
        case period(LifeState.Purchase, LifeState)
        case oneTime(LifeState.OneTimePurchase)
    }
}
