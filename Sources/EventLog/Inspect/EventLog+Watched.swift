package import Events
internal import Postgres

/// What a service should watch about the database of its ledger.
package struct WatchedDatabase: Sendable {
    /// How far the server's clock is ahead of this machine's, in seconds, to within the time that
    /// the question took.
    package let clockAheadSeconds: Double
    /// When the newest checkpoint that the ledger stores was taken; nil if it stores none.
    ///
    /// Rows that are dated later than the server's clock do not count.
    package let checkpointTakenAt: Instant?
    /// Where the server keeps its data, if it is on this machine and the user may know; else nil.
    package let dataFolder: String?
}

extension EventLog {
    /// Reads what a service should watch.
    ///
    /// - Parameter clock: This machine's clock.
    /// - Returns: The state of the database now.
    /// - Throws: `databaseUnavailable`.
    package func watchedDatabase(
        _ clock: @escaping @Sendable () -> Instant = { .systemClock() }
    ) async throws(EventLogError) -> WatchedDatabase {
        try await reading("read the state of the database") { session in
            let start = clock()
            let row = try await session.query(EventLog.watchedSQL).single()
            let end = clock()
            let middle = start.milliseconds + (end.milliseconds - start.milliseconds) / 2
            let server = Instant(microseconds: try row.timestamptz(0))
            return WatchedDatabase(
                clockAheadSeconds: Double(server.milliseconds - middle) / 1000,
                checkpointTakenAt: try row.timestamptzIfPresent(1)
                    .map(Instant.init(microseconds:)),
                dataFolder: try row.textIfPresent(2)
            )
        }
    }

    private static let watchedSQL = """
        SELECT clock_timestamp(), (SELECT max(taken_at) FROM ledger.checkpoint
                WHERE isfinite(taken_at) AND \(StoredCheckpoints.isNotDatedLater)),
            CASE WHEN inet_server_addr() IS NULL AND pg_has_role('pg_read_all_settings', 'USAGE')
                THEN current_setting('data_directory', true) END
        """
}
