package import Events

/// The statistics of one ingest run of one source.
///
/// Stored because the log contains only what is new: how often facts are repeated and transactions
/// restored cannot be computed from it.
package struct IngestionRun: Hashable, Sendable {
    /// The run.
    package let id: RunID
    /// The channel its payloads came by.
    package let source: String
    /// When it began, on our clock.
    package let startedAt: Instant
    /// When it ended, on our clock.
    package let finishedAt: Instant
    /// Whether it was stopped before the end of its input.
    package let wasStopped: Bool
    /// Its counts.
    package let counts: IngestionCounts

    /// A run that ended; if the clock was set back in between, the run counts as instantaneous.
    package init(
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
