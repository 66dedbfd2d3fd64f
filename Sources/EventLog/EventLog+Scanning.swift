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
        try await reading("read lane \(lane)") { session in
            let box = FoldState(state)
            let scan = try await session.copyOut(
                EventLog.scanSQL(lane: lane, upTo: head),
                into: StreamScan(lane: lane) { history in try fold(&box.state, history) },
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
    }

    // Both halves are read along the index that starts with the stream, so the server merges two
    // ordered streams and sorts nothing. Literals, because COPY takes no parameters.
    private static func scanSQL(lane: Int, upTo head: Head) -> String {
        """
        COPY (
            SELECT environment, original_transaction_id, lane_offset, as_of_ms, recorded_at,
                purchase_date_ms, expires_date_ms, kind, bundle_id, evidence_digest, content,
                NULL::bigint AS fields, NULL::text AS transaction_id
            FROM ledger.event
            WHERE lane = \(lane) AND lane_offset <= \(head.offset) AND original_transaction_id <> ''
            UNION ALL
            SELECT environment, original_transaction_id, lane_offset, as_of_ms, NULL, NULL, NULL,
                NULL, NULL, NULL, NULL, fields, transaction_id
            FROM ledger.confirmation
            WHERE lane = \(lane) AND commit_no <= \(head.commit)
                AND original_transaction_id <> ''
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
