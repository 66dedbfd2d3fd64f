public import Events

/// The statistics of one ingest run of one source.
///
/// Stored because the log contains only what is new: how often facts are repeated and transactions
/// restored cannot be computed from it.
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
    /// Its counts.
    public let counts: IngestionCounts

    /// A run that ended; if the clock was set back in between, the run counts as instantaneous.
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
