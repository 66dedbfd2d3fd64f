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
    /// Facts that gave a known purchase a new transaction id (Apple's data: trap 4).
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
