public import Events

/// A line in the list of streams.
public struct StreamSummary: Codable, Hashable, Sendable {
    /// Its id.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// Its lane.
    public let lane: Int
    /// Number of its events.
    public let events: Int64
    /// Products that were bought in it, sorted.
    public let productIds: [String]
    /// When its first event was committed.
    public let firstRecordedAt: Instant
    /// When its newest event was committed.
    public let lastRecordedAt: Instant

    /// The subscription.
    public var stream: StreamID {
        StreamID(environment: environment, originalTransactionId: originalTransactionId)
    }
}
