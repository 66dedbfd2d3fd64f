package import Events
internal import Postgres

extension EventLog {
    /// Folds over all streams of a lane, whole streams at a time, in the order of `StreamID`.
    ///
    /// Reads the log once, by COPY, and holds one range of streams in memory; a long lane uses a
    /// temporary file of about its size. `fold` runs on the connection's own thread and may block
    /// it. An event that cannot be read does not end the scan: it is in the history's `unreadable`,
    /// and `fold` decides what to do about it.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - head: The newest commit to take into account.
    ///   - state: The initial state of the fold.
    ///   - fold: Called once per stream; an error it throws ends the scan.
    /// - Returns: The state after the last stream.
    /// - Throws: `databaseUnavailable`, or what `fold` threw.
    package func foldStreams<State: Sendable>(
        lane: Int,
        upTo head: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, StreamHistory) throws -> Void
    ) async throws(EventLogError) -> State {
        var state = state
        for range in try await streamRanges(lane: lane, upTo: head, isComplete: true) {
            state = try await foldStreams(in: range, upTo: head, into: state, fold)
        }
        return state
    }

    /// The same for a part of a lane, so several connections can share one.
    ///
    /// Ranges of one call of `streamRanges` are best folded in order: the first calls read the lane
    /// together, later ones find it read. `atEnd` is called after the last stream, on the same
    /// thread, which it may block too.
    package func foldStreams<State: Sendable>(
        in range: StreamRange,
        upTo head: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, StreamHistory) throws -> Void,
        atEnd: @escaping @Sendable (inout State) throws -> Void = { _ in }
    ) async throws(EventLogError) -> State {
        try await scan(
            range,
            upTo: head,
            keeping: .neededByFolds(splitAt: nil),
            into: state,
            { try fold(&$0, $1.complete) },
            atEnd: atEnd
        )
    }

    /// Reads a range and passes on its streams with their confirmations.
    func scan<State: Sendable>(
        _ range: StreamRange,
        upTo head: Head,
        keeping kept: KeptRepetitions,
        into state: State,
        _ fold: @escaping @Sendable (inout State, ScannedStream) throws -> Void,
        atEnd: @escaping @Sendable (inout State) throws -> Void = { _ in }
    ) async throws(EventLogError) -> State {
        let lane = identity.lanes[range.lane]
        return try await reading("read lane \(range.lane)") { session in
            let box = Unshared(state)
            try await session.atomically(.readOnlySnapshot) { session in
                if let (spool, part) = range.spooled, spool.head == head {
                    try EventLog.fill(spool, in: session)
                    try spool.withHistories(ofPart: part) { next in
                        try EventLog.join(
                            lane: lane,
                            keeping: kept,
                            streams: next,
                            confirmations: EventLog.confirmationsSQL(range, upTo: head),
                            in: session
                        ) { try fold(&box.value, $0) }
                    }
                } else {
                    try EventLog.scan(range, of: lane, upTo: head, keeping: kept, in: session) {
                        try fold(&box.value, $0)
                    }
                }
                try atEnd(&box.value)
            }
            return box.value
        }
    }

    private static func scan(
        _ range: StreamRange,
        of lane: Lane,
        upTo head: Head,
        keeping kept: KeptRepetitions,
        in session: isolated PostgresSession,
        _ fold: @escaping (ScannedStream) throws -> Void
    ) throws {
        var histories = try gather(eventsSQL(range, upTo: head), lane: lane, in: session)
            .sorted { $0.stream < $1.stream }.makeIterator()
        try join(
            lane: lane,
            keeping: kept,
            streams: { histories.next() },
            confirmations: confirmationsSQL(range, upTo: head),
            in: session,
            fold
        )
    }

    /// The histories in a COPY of events, in the order of their first rows.
    static func gather(
        _ sql: String,
        lane: Lane,
        in session: isolated PostgresSession
    ) throws -> [StreamHistory] {
        try session.copyRows(sql, into: StreamGathering(lane: lane)) { try $0.take($1) }.finished()
    }

    /// Splits a lane into ranges with about equally many events, small enough for one range to fit
    /// in memory.
    ///
    /// The cuts are drawn from a sample of the log, so they differ from call to call.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - head: The newest commit that will be read.
    ///   - atLeast: How many ranges there should be, if the lane has enough streams.
    ///   - isComplete: Whether events must have everything known of them. Folds of timelines do not
    ///     need `recordedAt`, `evidence` or `bundleId`, which are otherwise omitted if that saves
    ///     time: the epoch, zero and empty.
    /// - Returns: The ranges, ascending; together they contain every stream once.
    /// - Throws: `databaseUnavailable`, `temporaryFile`.
    package func streamRanges(
        lane: Int,
        upTo head: Head,
        atLeast: Int = 1,
        isComplete: Bool = false
    ) async throws(EventLogError) -> [StreamRange] {
        let isSpooled = head.offset >= spooledEventsMin
        guard isSpooled else { return [StreamRange(lane: lane)] }
        let wanted = max(atLeast, Int(head.offset / EventLog.rangeEvents) + 1)
        let count = min(wanted, EventLog.partsMax)
        let cuts = count > 1 ? try await cuts(lane: lane, upTo: head, count) : []
        var ranges = StreamRange.between(cuts, lane: lane)
        let spool = try StreamSpool(
            lane: identity.lanes[lane],
            head: head,
            cuts: ranges.compactMap(\.from).map(StreamRange.key),
            isComplete: isComplete
        )
        for part in ranges.indices { ranges[part].spooled = (spool, part) }
        return ranges
    }

    // Streams that split a lane into this many ranges of about equally many events, ascending.
    private func cuts(
        lane: Int,
        upTo head: Head,
        _ count: Int
    ) async throws(EventLogError) -> [StreamID] {
        let sampled = max(EventLog.sampledEvents, Int64(count) * EventLog.sampledEventsPerRange)
        let percent = min(100, Double(sampled) * 100 / Double(head.offset))
        return try await reading("sample lane \(lane)") { session in
            let rows = try await session.query(
                """
                SELECT environment, original_transaction_id
                FROM ledger.event TABLESAMPLE SYSTEM (\(percent))
                WHERE lane = $1 AND environment <> '' AND original_transaction_id <> ''
                ORDER BY environment, original_transaction_id
                """,
                [.int4(Int32(lane))]
            )
            return try (1..<count).compactMap { number -> StreamID? in
                let row = rows.count * number / count
                guard row > 0, row < rows.count else { return nil }
                return try rows[row].stream(0)
            }
        }
    }

    /// The approximate number of events in a range: about four megabytes, for each connection that
    /// folds.
    private static let rangeEvents: Int64 = 12_500

    /// The most parts of a spool: each takes memory while the lane is read.
    private static let partsMax = 1024

    /// Rows of the sample from which cuts are drawn; a log with fewer events is one range.
    private static let sampledEvents: Int64 = 20_000

    /// Rows of the sample for each range, so none is much longer than the others.
    private static let sampledEventsPerRange: Int64 = 50

    // Literals, because COPY takes no parameters.
    private static func eventsSQL(_ range: StreamRange, upTo head: Head) -> String {
        """
        COPY (
            SELECT \(ScannedRow.columns)
            FROM ledger.event
            WHERE \(range.condition) AND lane_offset <= \(head.offset)
                AND \(ScannedRow.isNotErasedLink)
        ) TO STDOUT (FORMAT BINARY)
        """
    }

    private static func confirmationsSQL(_ range: StreamRange, upTo head: Head) -> String {
        """
        COPY (
            SELECT \(ConfirmationJoin.columns)
            FROM ledger.confirmation c
            WHERE \(range.condition) AND commit_no <= \(head.commit)
            ORDER BY environment, original_transaction_id, as_of_ms, commit_no
        ) TO STDOUT (FORMAT BINARY)
        """
    }
}
