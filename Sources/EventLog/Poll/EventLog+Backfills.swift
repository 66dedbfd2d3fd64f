public import Events
internal import Postgres

/// How far a backfill of an environment has come.
public struct BackfillProgress: Hashable, Sendable {
    /// Whether every customer is asked about.
    public let isComplete: Bool
    /// Where its span begins.
    public let since: Instant
    /// Up to where the notifications were asked for.
    public let reached: Instant
    /// Seconds since it was started first, on the server's clock: what was answered in them is done.
    public let secondsSinceStart: Double
    /// Whether an earlier run of it was interrupted.
    public let isResumed: Bool
    /// What tells it from another one of the same environment that replaced it: when it was started
    /// first, in microseconds of the server's clock.
    let startedAt: Int64
}

extension EventLog {
    /// Starts a backfill, or goes on with one that was interrupted.
    ///
    /// An unfinished one is gone on with if its span covers the new one and it was started less than
    /// two days ago; otherwise the new one replaces it. What a replaced one still does is not recorded:
    /// its span is another. Those that ask about every customer and those that do not leave each other alone.
    ///
    /// - Parameters:
    ///   - environment: Where the purchases were made; at most two of each.
    ///   - since: Where the span begins.
    ///   - isComplete: Whether every customer is asked about.
    /// - Returns: How far it has come.
    /// - Throws: `databaseUnavailable`; `permissionDenied` for whoever is no member of
    ///   `ledger_writer`.
    public func beginBackfill(
        in environment: Environment,
        since: Instant,
        isComplete: Bool
    ) async throws(EventLogError) -> BackfillProgress {
        let begin = """
            INSERT INTO operation.backfill (environment, since_ms, is_complete, reached_ms,
                started_at)
            VALUES ($1, $2, $3, $2, clock_timestamp())
            ON CONFLICT ON CONSTRAINT backfill_pkey DO UPDATE
                SET since_ms = excluded.since_ms, reached_ms = excluded.reached_ms,
                    started_at = excluded.started_at, finished_at = NULL
                WHERE backfill.finished_at IS NOT NULL OR backfill.since_ms > excluded.since_ms
                    OR backfill.started_at < clock_timestamp() - interval '2 days'
            RETURNING environment
            """
        let values: [PostgresValue] = [
            .text(environment.word), .int8(since.milliseconds), .bool(isComplete),
        ]
        return try await reading("begin a backfill") { session in
            let isNew = try await !session.query(begin, values).isEmpty
            let row = try await session.query(
                """
                SELECT since_ms, reached_ms,
                    ceil(extract(epoch FROM clock_timestamp() - started_at) * 1000)::bigint,
                    (extract(epoch FROM started_at) * 1000000)::bigint
                FROM operation.backfill WHERE environment = $1 AND is_complete = $2
                """,
                [.text(environment.word), .bool(isComplete)]
            ).single()
            return BackfillProgress(
                isComplete: isComplete,
                since: Instant(milliseconds: try row.int8(0)),
                reached: Instant(milliseconds: try row.int8(1)),
                secondsSinceStart: Double(try row.int8(2)) / 1000,
                isResumed: !isNew,
                startedAt: try row.int8(3)
            )
        }
    }

    /// Up to where the notifications of a backfill were asked for by now, by whichever process.
    ///
    /// - Parameters:
    ///   - progress: The backfill.
    ///   - environment: Where the purchases were made.
    /// - Returns: The instant.
    /// - Throws: `databaseUnavailable`.
    public func reached(
        by progress: BackfillProgress,
        in environment: Environment
    ) async throws(EventLogError) -> Instant {
        try await reading("read a backfill") { session in
            let rows = try await session.query(
                """
                SELECT reached_ms FROM operation.backfill
                WHERE \(EventLog.isSame)
                """,
                EventLog.key(of: progress, environment)
            )
            return rows.isEmpty ? progress.reached : Instant(milliseconds: try rows[0].int8(0))
        }
    }

    /// Records up to where the notifications of a backfill were asked for.
    ///
    /// - Parameters:
    ///   - progress: The backfill.
    ///   - reached: The instant; an earlier one than is recorded changes nothing.
    ///   - environment: Where the purchases were made.
    /// - Throws: `databaseUnavailable`.
    public func keep(
        _ progress: BackfillProgress,
        reached: Instant,
        in environment: Environment
    ) async throws(EventLogError) {
        try await reading("record how far a backfill came") { session in
            _ = try await session.query(
                """
                UPDATE operation.backfill SET reached_ms = greatest(reached_ms, $4)
                WHERE \(EventLog.isSame)
                """,
                EventLog.key(of: progress, environment) + [.int8(reached.milliseconds)]
            )
        }
    }

    /// Records that a backfill has asked for everything.
    ///
    /// - Parameters:
    ///   - progress: The backfill.
    ///   - environment: Where the purchases were made.
    /// - Throws: `databaseUnavailable`.
    public func finish(
        _ progress: BackfillProgress,
        in environment: Environment
    ) async throws(EventLogError) {
        try await reading("finish a backfill") { session in
            _ = try await session.query(
                """
                UPDATE operation.backfill SET finished_at = clock_timestamp()
                WHERE \(EventLog.isSame)
                """,
                EventLog.key(of: progress, environment)
            )
        }
    }

    private static let isSame = """
        environment = $1 AND is_complete = $2
            AND (extract(epoch FROM started_at) * 1000000)::bigint = $3
        """

    private static func key(
        of progress: BackfillProgress,
        _ environment: Environment
    ) -> [PostgresValue] {
        [.text(environment.word), .bool(progress.isComplete), .int8(progress.startedAt)]
    }

    /// When Apple signed the newest of the notifications that the log took last.
    ///
    /// Looks at the newest events, and further back as long as none is a notification.
    ///
    /// - Parameters:
    ///   - environment: Where the purchases were made.
    ///   - first: Events among which it is looked for first; each further step takes four times as
    ///     many.
    /// - Returns: The instant; nil where the log has no notification of the environment.
    /// - Throws: `databaseUnavailable`.
    public func newestNotification(
        in environment: Environment,
        among first: Int64 = 100_000
    ) async throws(EventLogError) -> Instant? {
        var last = try await heads().mapValues(\.offset)
        var count = first
        while last.values.contains(where: { $0 > 0 }) {
            let lanes = last.keys.sorted()
            let each = max(1, count / Int64(lanes.count))
            let values: [PostgresValue] = [
                .int4Array(lanes.map { Int32($0) }), .int8Array(lanes.map { last[$0] ?? 0 }),
                .int8(each), .text(environment.word),
            ]
            let found = try await reading("look up the newest notification") { session in
                try await session.query(EventLog.newestNotificationSQL, values)
                    .single().int8IfPresent(0)
            }
            if let found { return Instant(milliseconds: found) }
            last = last.mapValues { max(0, $0 - each) }
            count *= 4
        }
        return nil
    }

    private static let newestNotificationSQL = """
        SELECT max(e.as_of_ms)
        FROM unnest($1::int[], $2::bigint[]) AS head (lane, last)
        JOIN ledger.event e ON e.lane = head.lane
            AND e.lane_offset > head.last - $3 AND e.lane_offset <= head.last
        WHERE e.kind = 'notification' AND e.environment = $4
        """
}
