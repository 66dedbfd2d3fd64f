public import Events

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
