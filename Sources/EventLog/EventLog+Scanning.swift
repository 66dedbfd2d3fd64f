public import Events
internal import Postgres

extension EventLog {
    /// Folds over all streams of a lane, whole streams at a time, in the order of `StreamID`.
    ///
    /// Reads the log once, by COPY, range after range of streams, and holds one stream and the
    /// confirmations of one range in memory. `fold` runs on the connection's own thread and may
    /// block it. An event that cannot be read does not end the scan: it is in the history's
    /// `unreadable`, and what to do about it is up to `fold`.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - head: The newest commit to take into account.
    ///   - state: What the fold starts from.
    ///   - fold: Called once a stream; what it throws ends the scan.
    /// - Returns: The state after the last stream.
    /// - Throws: `databaseUnavailable`, or what `fold` threw.
    public func foldStreams<State: Sendable>(
        lane: Int,
        upTo head: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, StreamHistory) throws -> Void
    ) async throws(EventLogError) -> State {
        var state = state
        for range in try await streamRanges(lane: lane, upTo: head) {
            state = try await foldStreams(in: range, upTo: head, into: state, fold)
        }
        return state
    }

    /// The same for a part of a lane, so that several connections can share one.
    public func foldStreams<State: Sendable>(
        in range: StreamRange,
        upTo head: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, StreamHistory) throws -> Void
    ) async throws(EventLogError) -> State {
        try await reading("read lane \(range.lane)") { session in
            let box = FoldState(state)
            try await session.transaction(.readOnlySnapshot) { session throws(Thrown) in
                do {
                    try EventLog.scan(range, upTo: head, in: session) { try fold(&box.state, $0) }
                } catch {
                    throw Thrown(any: error)
                }
            }
            return box.state
        }
    }

    private static func scan(
        _ range: StreamRange,
        upTo head: Head,
        in session: isolated PostgresSession,
        _ fold: @escaping @Sendable (StreamHistory) throws -> Void
    ) throws {
        try session.execute(scanSettings)
        let confirmations = try session.copyOut(
            confirmationsSQL(range, upTo: head),
            into: ConfirmationScan(lane: range.lane),
            rows: { scan, row throws(Thrown) in
                do {
                    try scan.take(row)
                } catch {
                    throw Thrown(any: error)
                }
            }
        )
        let scan = try session.copyOut(
            eventsSQL(range, upTo: head),
            into: StreamScan(lane: range.lane, confirmations, fold),
            rows: { scan, row throws(Thrown) in
                do {
                    try scan.take(row)
                } catch {
                    throw Thrown(any: error)
                }
            }
        )
        try scan.finish()
    }

    /// Cuts a lane into ranges of about equally many events, so few that the confirmations of one
    /// fit into memory.
    ///
    /// The cuts are drawn from a sample of the log, so they differ from call to call.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - head: The newest commit that will be read.
    ///   - atLeast: How many ranges there should be, if the lane has streams enough.
    /// - Returns: The ranges, ascending; together they hold every stream once.
    /// - Throws: `databaseUnavailable`.
    public func streamRanges(
        lane: Int,
        upTo head: Head,
        atLeast: Int = 1
    ) async throws(EventLogError) -> [StreamRange] {
        let count = max(atLeast, Int(head.offset / EventLog.rangeEvents) + 1)
        guard count > 1, head.offset > EventLog.sampledEvents else {
            return [StreamRange(lane: lane)]
        }
        let percent = min(100, Double(EventLog.sampledEvents) * 100 / Double(head.offset))
        let cuts = try await reading("sample lane \(lane)") { session in
            let rows = try await session.query(
                """
                SELECT environment, original_transaction_id
                FROM ledger.event TABLESAMPLE SYSTEM (\(percent))
                WHERE lane = $1 AND original_transaction_id <> ''
                ORDER BY environment, original_transaction_id
                """,
                [.int4(Int32(lane))]
            )
            return try (1..<count).compactMap { number -> StreamID? in
                let row = rows.count * number / count
                guard row > 0, row < rows.count else { return nil }
                return StreamID(
                    environment: Environment(try rows[row].text(0)),
                    originalTransactionId: try rows[row].text(1)
                )
            }
        }
        return StreamRange.between(cuts, lane: lane)
    }

    /// Events of a range, about: some ten megabytes of confirmations, if each has one.
    private static let rangeEvents: Int64 = 200_000

    /// Rows of the sample that cuts are drawn from; a log of fewer events is one range.
    private static let sampledEvents: Int64 = 20_000

    // Read along the index that starts with the stream. The server would rather sort the range, in
    // files, and compile what runs once a row.
    private static let scanSettings = """
        SET LOCAL enable_sort = off;
        SET LOCAL enable_bitmapscan = off;
        SET LOCAL max_parallel_workers_per_gather = 0;
        SET LOCAL jit = off
        """

    // Literals, because COPY takes no parameters.
    private static func eventsSQL(_ range: StreamRange, upTo head: Head) -> String {
        """
        COPY (
            SELECT \(ScannedRow.columns)
            FROM ledger.event
            WHERE \(range.condition) AND lane_offset <= \(head.offset)
            ORDER BY environment, original_transaction_id
        ) TO STDOUT (FORMAT BINARY)
        """
    }

    private static func confirmationsSQL(_ range: StreamRange, upTo head: Head) -> String {
        """
        COPY (
            SELECT environment, original_transaction_id, lane_offset, as_of_ms, fields,
                transaction_id
            FROM ledger.confirmation
            WHERE \(range.condition) AND commit_no <= \(head.commit)
            ORDER BY environment, original_transaction_id
        ) TO STDOUT (FORMAT BINARY)
        """
    }
}

/// What is folded into, on the one thread of the session that reads.
private final class FoldState<State>: @unchecked Sendable {
    var state: State

    init(_ state: State) {
        self.state = state
    }
}
