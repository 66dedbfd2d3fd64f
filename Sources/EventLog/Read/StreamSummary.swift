package import Events

/// A line in the list of streams.
package struct StreamSummary: Codable, Hashable, Sendable {
    /// Its id.
    package let originalTransactionId: String
    /// Where the purchases were made.
    package let environment: StoreEnvironment
    /// Its lane.
    package let lane: Int
    /// Number of its events.
    package let events: Int64
    /// Products that were bought in it, sorted.
    package let productIds: [String]
    /// When its first event was committed.
    package let firstRecordedAt: Instant
    /// When its newest event was committed.
    package let lastRecordedAt: Instant

    /// The subscription.
    package var stream: StreamID {
        StreamID(environment: environment, originalTransactionId: originalTransactionId)
    }
}
