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
            let scan = try await session.copyOut(
                EventLog.scanSQL(lane: lane, upTo: head),
                into: StreamScan(state: state, fold: fold),
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

/// Gathers rows into streams.
private struct StreamScan<State: Sendable>: Sendable {
    private var state: State
    private let fold: @Sendable (inout State, StreamHistory) throws -> Void
    private var current: StreamHistory?

    init(state: State, fold: @escaping @Sendable (inout State, StreamHistory) throws -> Void) {
        self.state = state
        self.fold = fold
    }

    mutating func take(_ row: borrowing CopyBinaryRow, lane: Int) throws {
        let stream = StreamID(
            environment: Environment(try row.text(0)),
            originalTransactionId: try row.text(1)
        )
        if current?.stream != stream {
            try foldCurrent()
            current = StreamHistory(stream: stream, events: [], confirmations: [])
        }
        let position = Position(lane: lane, offset: try row.int8(2))
        let asOf = Instant(milliseconds: try row.int8(3))
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
        current?.events.append(try ScannedRow.event(in: row, of: stream, at: position))
    }

    func finish() throws -> State {
        var last = self
        try last.foldCurrent()
        return last.state
    }

    private mutating func foldCurrent() throws {
        guard var history = current else { return }
        // The index orders a stream by key; folds and people want it by offset.
        history.events.sort { $0.position < $1.position }
        try fold(&state, history)
    }
}

/// Reads what both scans have in common out of a row of `scanSQL`.
enum ScannedRow {
    /// The event in a row of that stream.
    static func event(
        in row: borrowing CopyBinaryRow,
        of stream: StreamID,
        at position: Position
    ) throws -> Event {
        guard let kind = Kind(rawValue: try row.text(7)),
            let evidence = Digest(bytes: try row.bytea(9)),
            let content = Content(canonicalBytes: try row.bytea(10))
        else { throw EventRows.malformed(position) }
        let fact = Fact(
            stream: stream,
            bundleId: try row.text(8),
            kind: kind,
            purchaseDate: Instant(milliseconds: try row.int8(5)),
            expiresDate: Instant(milliseconds: try row.int8(6)),
            asOf: Instant(milliseconds: try row.int8(3)),
            content: content
        )
        return Event(
            position: position,
            recordedAt: Instant(microseconds: try row.timestamptz(4)),
            fact: fact,
            evidence: evidence
        )
    }
}
