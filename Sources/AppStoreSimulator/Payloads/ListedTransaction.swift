package import Events

/// A transaction in a history, in its state at an instant.
package struct ListedTransaction: Sendable {
    /// When Apple last changed it, in calendar time.
    package let modifiedAt: Instant
    /// Its number in the life, which orders transactions that were changed at the same time.
    package let number: Int64
    /// Its id.
    package let transactionId: String
    /// When it was revoked, in calendar time; nil if it was not.
    package let revocationDate: Instant?

    let content: Content

    /// What kind of purchase it is.
    enum Content: Sendable {
        case period(LifeState.Purchase, LifeState)
        case oneTime(LifeState.OneTimePurchase)
    }
}
