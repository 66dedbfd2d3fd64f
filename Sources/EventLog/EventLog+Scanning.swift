public import Events
internal import Postgres

extension EventLog {
    /// Folds over all streams of a lane, whole streams at a time, in the order of `StreamID`.
    ///
    /// Reads the log once, through one COPY, and holds one stream in memory. `fold` runs on the
    /// connection's own thread and may block it.
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
        try await foldStreams(in: StreamRange(lane: lane), upTo: head, into: state, fold)
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
                    try session.execute(EventLog.scanSettings)
                    let scan = try session.copyOut(
                        EventLog.scanSQL(range, upTo: head),
                        into: StreamScan(lane: range.lane) { try fold(&box.state, $0) },
                        rows: { scan, row throws(Thrown) in
                            do {
                                try scan.take(row)
                            } catch {
                                throw Thrown(any: error)
                            }
                        }
                    )
                    try scan.finish()
                } catch {
                    throw Thrown(any: error)
                }
            }
            return box.state
        }
    }

    /// Cuts a lane into ranges of about equally many events; at least one, at most `count`.
    ///
    /// The cuts are drawn from a sample of the log, so they differ from call to call.
    public func streamRanges(
        lane: Int,
        upTo head: Head,
        count: Int
    ) async throws(EventLogError) -> [StreamRange] {
        guard count > 1, head.offset > Int64(EventLog.sampledEvents) else {
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

    /// Rows of the sample that cuts are drawn from; below so many one range is enough.
    private static let sampledEvents = 20_000

    // Both halves are read along the index that starts with the stream, so the server merges two
    // ordered streams. It would rather sort, in files, and compile what runs once a row.
    private static let scanSettings = """
        SET LOCAL enable_sort = off;
        SET LOCAL enable_incremental_sort = off;
        SET LOCAL max_parallel_workers_per_gather = 0;
        SET LOCAL jit = off
        """

    // Literals, because COPY takes no parameters.
    private static func scanSQL(_ range: StreamRange, upTo head: Head) -> String {
        """
        COPY (
            SELECT environment, original_transaction_id, lane_offset, as_of_ms, recorded_at,
                purchase_date_ms, expires_date_ms, kind, bundle_id, evidence_digest, content,
                NULL::bigint AS fields, NULL::text AS transaction_id
            FROM ledger.event
            WHERE lane_offset <= \(head.offset) AND \(range.condition)
            UNION ALL
            SELECT environment, original_transaction_id, lane_offset, as_of_ms, NULL, NULL, NULL,
                NULL, NULL, NULL, NULL, fields, transaction_id
            FROM ledger.confirmation
            WHERE commit_no <= \(head.commit) AND \(range.condition)
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

/// Gathers rows into streams.
private struct StreamScan: Sendable {
    private let lane: Int
    private let fold: @Sendable (StreamHistory) throws -> Void
    private var current: StreamHistory?
    // The bytes of the current stream's names, and of texts that nearly every row repeats.
    private var environment: [UInt8] = []
    private var id: [UInt8] = []
    private var bundleId = RepeatedText()

    init(lane: Int, fold: @escaping @Sendable (StreamHistory) throws -> Void) {
        self.lane = lane
        self.fold = fold
    }

    mutating func take(_ row: borrowing CopyBinaryRow) throws {
        let position = Position(lane: lane, offset: try row.int8(2))
        let asOf = Instant(milliseconds: try row.int8(3))
        let stream = try stream(of: row, at: position)
        if let fields = try row.int8IfPresent(11) {
            current?.confirmations.append(
                Confirmation(
                    position: position,
                    asOf: asOf,
                    fields: FieldSet(rawValue: UInt64(bitPattern: fields)),
                    transactionId: try row.text(12)
                )
            )
            return
        }
        guard let kind = Kind(rawValue: try row.text(7)),
            let evidence = try row.bytes(9).flatMap({ Digest(bytes: $0) }),
            let content = Content(canonicalBytes: try row.bytea(10)),
            let bundle = try row.bytes(8).flatMap({ bundleId.text(of: $0) })
        else { throw EventRows.malformed(position) }
        current?.events.append(
            Event(
                position: position,
                recordedAt: Instant(microseconds: try row.timestamptz(4)),
                fact: Fact(
                    stream: stream,
                    bundleId: bundle,
                    kind: kind,
                    purchaseDate: Instant(milliseconds: try row.int8(5)),
                    expiresDate: Instant(milliseconds: try row.int8(6)),
                    asOf: asOf,
                    content: content
                ),
                evidence: evidence
            )
        )
    }

    /// Folds the last stream.
    func finish() throws {
        try foldCurrent()
    }

    // The stream of a row; folds the one before where it is another.
    private mutating func stream(
        of row: borrowing CopyBinaryRow,
        at position: Position
    ) throws -> StreamID {
        guard let word = try row.bytes(0), let text = try row.bytes(1) else {
            throw EventRows.malformed(position)
        }
        if let stream = current?.stream, id.holds(text), environment.holds(word) {
            return stream
        }
        try foldCurrent()
        (environment, id) = (Array(word), Array(text))
        let stream = StreamID(
            environment: Environment(try row.text(0)),
            originalTransactionId: try row.text(1)
        )
        current = StreamHistory(stream: stream, events: [], confirmations: [])
        return stream
    }

    private func foldCurrent() throws {
        guard var history = current else { return }
        // The index orders a stream by key; folds and people want it by offset.
        history.events.sort { $0.position < $1.position }
        try fold(history)
    }
}

/// A text that is nearly always the one of the row before.
private struct RepeatedText: Sendable {
    private var bytes: [UInt8] = []
    private var text = ""

    /// The text of these bytes; nil where they are no UTF-8.
    mutating func text(of raw: UnsafeRawBufferPointer) -> String? {
        if bytes.holds(raw) { return text }
        guard let text = String(validating: raw, as: UTF8.self) else { return nil }
        (bytes, self.text) = (Array(raw), text)
        return text
    }
}

extension [UInt8] {
    fileprivate func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes { ByteScan.areEqual($0, bytes) }
    }
}
