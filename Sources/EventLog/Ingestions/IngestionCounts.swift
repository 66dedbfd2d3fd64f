/// The counts of an ingest run.
public struct IngestionCounts: Hashable, Sendable {
    /// Payloads, including refused ones.
    public var payloads: Int64 = 0
    /// Refused payloads, by machine-readable reason.
    public var rejectedByReason: [String: Int64] = [:]
    /// Facts that became events.
    public var appended: Int64 = 0
    /// Facts that the log already contained.
    public var duplicates: Int64 = 0
    /// Facts that gave a known purchase a new transaction id (Apple's data: trap 4).
    public var restored: Int64 = 0
    /// Subscriptions that the payloads are about.
    public var streams: Int64 = 0
    /// Payloads that were verified and neither brought nor confirmed anything: they are not stored.
    public var unchanged: Int64 = 0

    /// Creates counts of zero.
    public init() {}

    /// Payloads that were refused.
    public var rejected: Int64 { rejectedByReason.values.reduce(0, +) }
    /// All facts.
    public var facts: Int64 { appended + duplicates }
}
