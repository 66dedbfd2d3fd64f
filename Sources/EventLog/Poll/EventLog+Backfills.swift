public import Events
internal import Postgres

/// The progress of a backfill of an environment.
public struct BackfillProgress: Hashable, Sendable {
    /// Whether every customer is asked about.
    public let isComplete: Bool
    /// The start of its time span.
    public let since: Instant
    /// The instant up to which the notifications were requested.
    public let reached: Instant
    /// Seconds since its first start, on the server's clock: customers answered since then are
    /// done.
    public let secondsSinceStart: Double
    /// Whether an earlier run of it was interrupted.
    public let isResumed: Bool
    /// Distinguishes it from a backfill of the same environment that replaced it: the time of its
    /// first start, in microseconds of the server's clock.
    let startedAt: Int64
}

extension EventLog {
    /// Starts a backfill, or continues an interrupted one.
    ///
    /// An unfinished one is continued if its span covers the new one and it was started less than
    /// two days ago; otherwise the new one replaces it. Further progress of a replaced one is not
    /// recorded, because its span differs. Those that ask about every customer and those that do
    /// not are independent.
    ///
    /// - Parameters:
    ///   - environment: Where the purchases were made; each has at most two backfills.
    ///   - since: The start of the span.
    ///   - isComplete: Whether every customer is asked about.
    /// - Returns: Its progress.
    /// - Throws: `databaseUnavailable`; `permissionDenied` unless the login is a member of
    ///   `ledger_writer`.
    public func beginBackfill(
        in environment: StoreEnvironment,
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

    /// The instant up to which the notifications of a backfill have been requested, by any process.
    ///
    /// - Parameters:
    ///   - progress: The backfill.
    ///   - environment: Where the purchases were made.
    /// - Returns: The instant.
    /// - Throws: `databaseUnavailable`.
    public func reached(
        by progress: BackfillProgress,
        in environment: StoreEnvironment
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

    /// Records the instant up to which the notifications of a backfill were requested.
    ///
    /// - Parameters:
    ///   - progress: The backfill.
    ///   - reached: The instant; one earlier than the recorded instant changes nothing.
    ///   - environment: Where the purchases were made.
    /// - Throws: `databaseUnavailable`.
    public func record(
        _ progress: BackfillProgress,
        reached: Instant,
        in environment: StoreEnvironment
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

    /// Records that a backfill has requested everything.
    ///
    /// - Parameters:
    ///   - progress: The backfill.
    ///   - environment: Where the purchases were made.
    /// - Throws: `databaseUnavailable`.
    public func finish(
        _ progress: BackfillProgress,
        in environment: StoreEnvironment
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
        _ environment: StoreEnvironment
    ) -> [PostgresValue] {
        [.text(environment.word), .bool(progress.isComplete), .int8(progress.startedAt)]
    }

    /// When Apple signed the newest of the notifications that the log recorded last.
    ///
    /// Searches the newest events, and further back until one is a notification.
    ///
    /// - Parameters:
    ///   - environment: Where the purchases were made.
    ///   - first: The number of events in the first step; each further step reads four times as
    ///     many.
    /// - Returns: The instant; nil if the log has no notification of the environment.
    /// - Throws: `databaseUnavailable`.
    public func newestNotification(
        in environment: StoreEnvironment,
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
