/// The counts of an ingest run.
package struct IngestionCounts: Hashable, Sendable {
    /// Payloads, including refused ones.
    package var payloads: Int64 = 0
    /// Refused payloads, by machine-readable reason.
    package var rejectedByReason: [String: Int64] = [:]
    /// Facts that became events.
    package var appended: Int64 = 0
    /// Facts that the log already contained.
    package var duplicates: Int64 = 0
    /// Facts that gave a known purchase a new transaction id (Apple's data: trap 4).
    package var restored: Int64 = 0
    /// Subscriptions that the payloads are about.
    package var streams: Int64 = 0
    /// Payloads that were verified and neither brought nor confirmed anything: they are not stored.
    package var unchanged: Int64 = 0

    /// Creates counts of zero.
    package init() {}

    /// Payloads that were refused.
    package var rejected: Int64 { rejectedByReason.values.reduce(0, +) }
    /// All facts.
    package var facts: Int64 { appended + duplicates }
}
