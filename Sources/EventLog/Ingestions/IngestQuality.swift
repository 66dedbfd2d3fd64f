/// The quality of the input: how much is refused, repeated and restored.
package struct IngestQuality: Sendable {
    /// One line for each source, by its name.
    package let sources: [Line]
    /// The sum of them.
    package let total: Line
    /// The counts of each channel in the log, with runs or without.
    package let channels: [Channel]
    /// Transaction ids in the log, by kind of evidence.
    package let aliases: [Aliases]

    /// The runs of one source, added up.
    package struct Line: Hashable, Sendable {
        /// The channel; empty for the sum over all.
        package let source: String
        /// Number of runs.
        package var runs: Int64
        /// Their counts, added up; for `streams`, the most that one run was about, because runs
        /// overlap.
        package var counts: IngestionCounts
    }

    /// The counts of a channel in the log, with runs or without: for example, notifications that
    /// a service received.
    package struct Channel: Codable, Hashable, Sendable {
        /// The channel.
        package let source: String
        /// Rows of evidence: each is a part of a payload that can be verified on its own.
        package let payloads: Int64
        /// Events that are based on these payloads.
        package let events: Int64
        /// Refused payloads, each counted once for each reason.
        package let rejected: Int64
    }

    /// How often purchases in the log are known by more than one transaction id.
    ///
    /// Computed from the log alone, independent of the runs.
    package struct Aliases: Hashable, Sendable {
        /// The kind of payload that the purchase, or the id, first came from; for an id that came
        /// with a repetition, the kind of payload that was repeated.
        package let evidenceKind: String
        /// Purchases with a transaction id.
        package let purchases: Int64
        /// Further ids of purchases (Apple's data: trap 4).
        package let aliases: Int64
    }
}
