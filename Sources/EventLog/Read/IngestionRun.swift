public import Events

/// The name of one ingest run: a random UUID.
public struct RunID: Hashable, Sendable {
    /// Thirty-six characters, lower case.
    public let text: String

    /// A new one (RFC 9562 §5.4).
    public init() {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        text = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(bytes[$0]) }
            .joined(separator: "-")
    }
}

/// What one ingest run of one source came to.
///
/// Kept because the log holds only what is news: how often facts are repeated and transactions
/// restored cannot be told from it alone.
public struct IngestionRun: Hashable, Sendable {
    /// The run.
    public let id: RunID
    /// The channel its payloads came by.
    public let source: String
    /// When it began, on our clock.
    public let startedAt: Instant
    /// When it ended, on our clock.
    public let finishedAt: Instant
    /// Whether it was stopped before the end of its input.
    public let wasStopped: Bool
    /// What it counted.
    public let counts: IngestionCounts

    /// A run that ended; a clock that was set back meanwhile counts as standing still.
    public init(
        id: RunID,
        source: String,
        startedAt: Instant,
        finishedAt: Instant,
        wasStopped: Bool,
        counts: IngestionCounts
    ) {
        self.id = id
        self.source = source
        self.startedAt = startedAt
        self.finishedAt = max(startedAt, finishedAt)
        self.wasStopped = wasStopped
        self.counts = counts
    }
}

/// How much of what an ingest run saw.
public struct IngestionCounts: Hashable, Sendable {
    /// Payloads, the refused ones included.
    public var payloads: Int64 = 0
    /// Refused payloads, by machine word.
    public var rejectedByReason: [String: Int64] = [:]
    /// Facts that became events.
    public var appended: Int64 = 0
    /// Facts that the log knew already.
    public var duplicates: Int64 = 0
    /// Facts that gave a known purchase a new transaction id (app-store.md §G-4).
    public var restored: Int64 = 0
    /// Subscriptions that were spoken of.
    public var streams: Int64 = 0
    /// Payloads that were verified and neither brought nor confirmed anything: they are not kept.
    public var unchanged: Int64 = 0

    /// Nothing yet.
    public init() {}

    /// Payloads that were refused.
    public var rejected: Int64 { rejectedByReason.values.reduce(0, +) }
    /// All facts.
    public var facts: Int64 { appended + duplicates }
}
