public import Events
internal import Postgres

/// A subscription of which a part of the log says something, as it was known before and after.
public struct TouchedStream: Sendable {
    /// What was known before; without events where nothing was.
    public let before: StreamHistory
    /// What is known after.
    public let after: StreamHistory
}

extension EventLog {
    /// Folds over the streams that the commits between two heads of a lane touched, by an event or
    /// by a repetition, whole streams at a time, in the order of `StreamID`.
    ///
    /// Holds one stream and the names and repetitions of the touched ones in memory. `fold` runs on
    /// the connection's own thread and may block it.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - from: The commit before the first that counts.
    ///   - to: The last commit that counts.
    ///   - state: What the fold starts from.
    ///   - fold: Called once a stream; what it throws ends the scan.
    ///   - atEnd: Called after the last stream, on the same thread, which it too may block.
    /// - Returns: The state after the last stream.
    /// - Throws: `databaseUnavailable`, or what `fold` threw.
    public func foldTouchedStreams<State: Sendable>(
        lane: Int,
        after from: Head,
        upTo to: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, TouchedStream) throws -> Void,
        atEnd: @escaping @Sendable (inout State) throws -> Void = { _ in }
    ) async throws(EventLogError) -> State {
        try await reading("read what is new in lane \(lane)") { session in
            let touched = TouchedScan(lane: lane, from: from, to: to)
            return try await session.transaction(.readOnlySnapshot) { session throws(Thrown) in
                do {
                    var state = try touched.fold(in: session, into: state, fold)
                    try atEnd(&state)
                    return state
                } catch {
                    throw Thrown(any: error)
                }
            }
        }
    }

    /// The newest commit of a lane up to which at most so many events and repetitions are new since
    /// a head, but at least the next one; nil where there is none.
    ///
    /// - Throws: `databaseUnavailable`.
    public func head(
        lane: Int,
        after head: Head,
        statements: Int64
    ) async throws(EventLogError) -> Head? {
        try await reading("read the commits of lane \(lane)") { session in
            let rows = try await session.query(
                """
                SELECT commit_no, last_offset, digest FROM (
                    SELECT commit_no, first_offset + count - 1 AS last_offset, digest,
                        sum(count + confirmations) OVER (ORDER BY commit_no) AS statements
                    FROM ledger.commit WHERE lane = $1 AND commit_no > $2
                    ORDER BY commit_no LIMIT \(EventLog.commitsPerStepMax)
                ) AS next
                WHERE statements <= $3 OR commit_no = $2 + 1
                ORDER BY commit_no DESC LIMIT 1
                """,
                [.int4(Int32(lane)), .int8(head.commit), .int8(statements)]
            )
            guard rows.count == 1 else { return nil }
            let commit = try rows[0].int8(0)
            return Head(
                offset: try rows[0].int8(1),
                commit: commit,
                digest: try CommitMark.digest(in: rows[0], 2, of: commit)
            )
        }
    }

    /// Commits that are looked at for one step: each may bring a single event.
    private static let commitsPerStepMax = 20_000
}

extension EventLog {
    /// The head that a commit of a lane is; nil where the log has no such commit.
    ///
    /// - Throws: `databaseUnavailable`.
    public func head(lane: Int, commit: Int64) async throws(EventLogError) -> Head? {
        guard commit > 0 else { return origin(lane: lane) }
        return try await reading("read commit \(commit) of lane \(lane)") { session in
            let rows = try await session.query(
                """
                SELECT first_offset + count - 1, digest FROM ledger.commit
                WHERE lane = $1 AND commit_no = $2
                """,
                [.int4(Int32(lane)), .int8(commit)]
            )
            guard rows.count == 1 else { return nil }
            return Head(
                offset: try rows[0].int8(0),
                commit: commit,
                digest: try CommitMark.digest(in: rows[0], 1, of: commit)
            )
        }
    }
}

/// One scan over the streams that a part of a lane touched.
private struct TouchedScan: Sendable {
    let lane: Int
    let from: EventLog.Head
    let to: EventLog.Head

    func fold<State: Sendable>(
        in session: isolated PostgresSession,
        into state: State,
        _ fold: @escaping @Sendable (inout State, TouchedStream) throws -> Void
    ) throws -> State {
        // Each stream is looked up by the index that begins with it; the server's guess of how many
        // there are is often far off, and a wrong guess means reading the whole lane.
        try session.execute(
            """
            SET LOCAL enable_hashjoin = off;
            SET LOCAL enable_mergejoin = off;
            SET LOCAL enable_bitmapscan = off;
            SET LOCAL max_parallel_workers_per_gather = 0;
            SET LOCAL jit = off
            """
        )
        let box = TouchedState(
            state,
            before: try confirmations(where: "commit_no <= \(from.commit)", in: session)
        )
        let offset = from.offset
        let scan = try session.copyOut(
            eventsSQL,
            into: StreamScan(
                lane: lane,
                try confirmations(where: "commit_no <= \(to.commit)", in: session)
            ) { history in
                var before = history
                before.events.removeAll { $0.position.offset > offset }
                before.unreadable.removeAll { $0.position.offset > offset }
                before.confirmations = box.before.confirmations(
                    of: Array(history.stream.environment.word.utf8),
                    Array(history.stream.originalTransactionId.utf8)
                )
                try fold(&box.state, TouchedStream(before: before, after: history))
            },
            rows: { scan, row throws(Thrown) in
                do {
                    try scan.take(row)
                } catch {
                    throw Thrown(any: error)
                }
            }
        )
        try scan.finish()
        return box.state
    }

    private func confirmations(
        where condition: String,
        in session: isolated PostgresSession
    ) throws -> ConfirmationScan {
        try ConfirmationScan.read(confirmationsSQL(where: condition), lane: lane, in: session)
    }

    // Literals, because COPY takes no parameters. OFFSET 0 keeps the look-up a look-up.
    private var eventsSQL: String {
        """
        COPY (
            SELECT e.* FROM (\(touched)) AS t CROSS JOIN LATERAL (
                SELECT \(ScannedRow.columns) FROM ledger.event
                WHERE lane = \(lane) AND environment = t.stream_environment
                    AND original_transaction_id = t.stream_id AND lane_offset <= \(to.offset)
                OFFSET 0
            ) AS e
            ORDER BY t.stream_environment, t.stream_id
        ) TO STDOUT (FORMAT BINARY)
        """
    }

    private func confirmationsSQL(where condition: String) -> String {
        """
        COPY (
            SELECT c.* FROM (\(touched)) AS t CROSS JOIN LATERAL (
                SELECT environment, original_transaction_id, lane_offset, as_of_ms, fields,
                    transaction_id
                FROM ledger.confirmation
                WHERE lane = \(lane) AND environment = t.stream_environment
                    AND original_transaction_id = t.stream_id AND \(condition)
                OFFSET 0
            ) AS c
            ORDER BY t.stream_environment, t.stream_id
        ) TO STDOUT (FORMAT BINARY)
        """
    }

    private var touched: String {
        """
        SELECT environment AS stream_environment, original_transaction_id AS stream_id
        FROM ledger.event
        WHERE lane = \(lane) AND lane_offset > \(from.offset) AND lane_offset <= \(to.offset)
            AND original_transaction_id <> ''
        UNION
        SELECT environment, original_transaction_id FROM ledger.confirmation
        WHERE lane = \(lane) AND commit_no > \(from.commit) AND commit_no <= \(to.commit)
            AND original_transaction_id <> ''
        ORDER BY stream_environment, stream_id
        """
    }
}

/// What is folded into, on the one thread of the session that reads.
private final class TouchedState<State>: @unchecked Sendable {
    var state: State
    var before: ConfirmationScan

    init(_ state: State, before: ConfirmationScan) {
        self.state = state
        self.before = before
    }
}
