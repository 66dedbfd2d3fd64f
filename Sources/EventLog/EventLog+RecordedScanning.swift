public import Events
internal import Postgres

extension EventLog {
    /// Folds over all streams of a lane with when each part became known, whole streams at a time,
    /// in the order of `StreamID`.
    ///
    /// Like `foldStreams`, and it looks up the commit of every repetition: for reports, not for
    /// rebuilds. Events that cannot be read are in the history's `unreadable`.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - head: The newest commit to take into account.
    ///   - state: What the fold starts from.
    ///   - fold: Called once a stream; what it throws ends the scan.
    /// - Returns: The state after the last stream.
    /// - Throws: `databaseUnavailable`, or what `fold` threw.
    public func foldRecordedStreams<State: Sendable>(
        lane: Int,
        upTo head: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, RecordedHistory) throws -> Void
    ) async throws(EventLogError) -> State {
        try await reading("read lane \(lane)") { session in
            let scan = try await session.copyOut(
                EventLog.recordedScanSQL(lane: lane, upTo: head),
                into: RecordedScan(state: state, fold: fold),
                rows: { scan, row throws(Thrown) in
                    do {
                        try scan.take(row, lane: lane)
                    } catch {
                        throw Thrown(any: error)
                    }
                }
            )
            return try scan.finish()
        }
    }

    // Literals, because COPY takes no parameters.
    private static func recordedScanSQL(lane: Int, upTo head: Head) -> String {
        """
        COPY (
            SELECT \(ScannedRow.columns),
                NULL::bigint AS fields, NULL::text AS transaction_id,
                NULL::bigint AS known_from_offset
            FROM ledger.event
            WHERE lane = \(lane) AND lane_offset <= \(head.offset) AND original_transaction_id <> ''
            UNION ALL
            SELECT environment, original_transaction_id, lane_offset, as_of_ms, (
                    SELECT k.committed_at FROM ledger.commit k
                    WHERE k.lane = c.lane AND k.commit_no = c.commit_no),
                NULL, NULL, NULL, NULL, NULL, NULL, fields, transaction_id, known_from_offset
            FROM ledger.confirmation c
            WHERE lane = \(lane) AND commit_no <= \(head.commit)
                AND original_transaction_id <> ''
            ORDER BY environment, original_transaction_id
        ) TO STDOUT (FORMAT BINARY)
        """
    }
}

/// Gathers rows into recorded histories.
private struct RecordedScan<State: Sendable>: Sendable {
    private var state: State
    private let fold: @Sendable (inout State, RecordedHistory) throws -> Void
    private var stream: StreamID?
    private var events: [Event] = []
    private var repetitions: [RecordedHistory.Repetition] = []
    private var unreadable: [UnreadableEvent] = []
    private var bundleId = RepeatedText()

    init(state: State, fold: @escaping @Sendable (inout State, RecordedHistory) throws -> Void) {
        self.state = state
        self.fold = fold
    }

    mutating func take(_ row: borrowing CopyBinaryRow, lane: Int) throws {
        let stream = StreamID(
            environment: Environment(try row.text(0)),
            originalTransactionId: try row.text(1)
        )
        if self.stream != stream {
            try foldCurrent()
            (self.stream, events, repetitions, unreadable) = (stream, [], [], [])
        }
        let position = Position(lane: lane, offset: try row.int8(2))
        guard let fields = try row.int8IfPresent(11) else {
            switch try ScannedRow.event(in: row, of: stream, at: position, bundleId: &bundleId) {
            case .success(let event): events.append(event)
            case .failure(let found): unreadable.append(found.event)
            }
            return
        }
        repetitions.append(
            RecordedHistory.Repetition(
                confirmation: Confirmation(
                    position: position,
                    asOf: Instant(milliseconds: try row.int8(3)),
                    fields: FieldSet(rawValue: UInt64(bitPattern: fields)),
                    transactionId: try row.text(12)
                ),
                recordedAt: Instant(microseconds: try row.timestamptz(4)),
                knownFromOffset: try row.int8(13)
            )
        )
    }

    func finish() throws -> State {
        var last = self
        try last.foldCurrent()
        return last.state
    }

    private mutating func foldCurrent() throws {
        guard let stream else { return }
        // The index orders a stream by key; folds and people want it by offset.
        events.sort { $0.position < $1.position }
        var history = RecordedHistory(stream: stream, events: events, repetitions: repetitions)
        history.unreadable = unreadable.sorted { $0.position < $1.position }
        try fold(&state, history)
    }
}
