package import Events
internal import Postgres
internal import Synchronization

/// What one open log has done, and its current load: for an operator's metrics.
package struct LogStatistics: Hashable, Sendable {
    /// Commits that it made.
    package let commits: Int64
    /// Appends that it answered; many may share a commit.
    package let appends: Int64
    /// Appends that wait for a commit.
    package let waitingAppends: Int
    /// Connections for reading that are open.
    package let readersOpen: Int
    /// Those of them that are idle.
    package let readersIdle: Int
    /// Reads that wait for a connection.
    package let waitingReads: Int
    /// Refused payloads that were not stored whole, by standing.
    package let omittedRejections: [Standing: OmittedRejections]
}

extension EventLog {
    /// What this log has done since it was opened; other processes are not counted.
    package func statistics() async -> LogStatistics {
        var (commits, appends, waiting): (Int64, Int64, Int) = (0, 0, 0)
        for appender in appenders {
            commits += await appender.commitCount
            appends += await appender.appendCount
            waiting += await appender.waitingCount
        }
        let usage = pool.usage
        return LogStatistics(
            commits: commits,
            appends: appends,
            waitingAppends: waiting,
            readersOpen: usage.open,
            readersIdle: usage.idle,
            waitingReads: usage.waiting,
            omittedRejections: omittedRejections.withLock { $0 }
        )
    }
}
