internal import Events
internal import Postgres

/// The confirmations of a range, stream by stream.
struct ConfirmationScan: Sendable {
    private let lane: Int
    private var streams: [(environment: [UInt8], id: [UInt8], confirmations: [Confirmation])] = []
    private var next = 0

    init(lane: Int) {
        self.lane = lane
    }

    /// The confirmations that a COPY yields.
    static func read(
        _ sql: String,
        lane: Int,
        in session: isolated PostgresSession
    ) throws -> ConfirmationScan {
        try session.copyOut(
            sql,
            into: ConfirmationScan(lane: lane),
            rows: { scan, row throws(Thrown) in
                do {
                    try scan.take(row)
                } catch {
                    throw Thrown(any: error)
                }
            }
        )
    }

    mutating func take(_ row: borrowing CopyBinaryRow) throws {
        let position = Position(lane: lane, offset: try row.int8(2))
        guard let word = try row.bytes(0), let text = try row.bytes(1) else {
            throw EventRows.malformed(position)
        }
        let isOfLast = streams.last.map { $0.id.holds(text) && $0.environment.holds(word) }
        if isOfLast != true { streams.append((Array(word), Array(text), [])) }
        streams[streams.count - 1].confirmations.append(
            Confirmation(
                position: position,
                asOf: Instant(milliseconds: try row.int8(3)),
                fields: FieldSet(rawValue: UInt64(bitPattern: try row.int8(4))),
                transactionId: try row.text(5)
            )
        )
    }

    /// The confirmations of a stream; streams are asked for in their order.
    mutating func confirmations(of environment: [UInt8], _ id: [UInt8]) -> [Confirmation] {
        while next < streams.count, isNextBefore(environment, id) { next += 1 }
        guard next < streams.count, streams[next].id == id,
            streams[next].environment == environment
        else { return [] }
        return streams[next].confirmations
    }

    private func isNextBefore(_ environment: [UInt8], _ id: [UInt8]) -> Bool {
        let stream = streams[next]
        return stream.environment == environment
            ? stream.id.lexicographicallyPrecedes(id)
            : stream.environment.lexicographicallyPrecedes(environment)
    }
}

/// Gathers rows into streams.
struct StreamScan: Sendable {
    private let lane: Int
    private let fold: @Sendable (StreamHistory) throws -> Void
    private var confirmations: ConfirmationScan
    private var current: StreamHistory?
    // The bytes of the current stream's names, and of texts that nearly every row repeats.
    private var environment: [UInt8] = []
    private var id: [UInt8] = []
    private var bundleId = RepeatedText()

    init(
        lane: Int,
        _ confirmations: ConfirmationScan,
        _ fold: @escaping @Sendable (StreamHistory) throws -> Void
    ) {
        self.lane = lane
        self.confirmations = confirmations
        self.fold = fold
    }

    mutating func take(_ row: borrowing CopyBinaryRow) throws {
        let position = Position(lane: lane, offset: try row.int8(2))
        let stream = try stream(of: row, at: position)
        switch try ScannedRow.event(in: row, of: stream, at: position, bundleId: &bundleId) {
        case .success(let event): current?.events.append(event)
        case .failure(let unreadable): current?.unreadable.append(unreadable.event)
        }
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
        if let stream = current?.stream, id.holds(text), environment.holds(word) { return stream }
        try foldCurrent()
        (environment, id) = (Array(word), Array(text))
        let stream = StreamID(
            environment: Environment(try row.text(0)),
            originalTransactionId: try row.text(1)
        )
        current = StreamHistory(
            stream: stream,
            events: [],
            confirmations: confirmations.confirmations(of: environment, id)
        )
        return stream
    }

    private func foldCurrent() throws {
        guard var history = current else { return }
        // The index orders a stream by key; folds and people want it by offset.
        history.events.sort { $0.position < $1.position }
        history.unreadable.sort { $0.position < $1.position }
        try fold(history)
    }
}

/// Reads what all scans have in common out of a row of their COPY.
enum ScannedRow {
    /// The columns of an event, in the order in which `event` reads them.
    static let columns = """
        environment, original_transaction_id, lane_offset, as_of_ms, recorded_at,
        purchase_date_ms, expires_date_ms, kind, bundle_id, evidence_digest, content
        """

    /// The event in a row of that stream, or what of it cannot be read.
    ///
    /// Throws only what no single event is the cause of.
    static func event(
        in row: borrowing CopyBinaryRow,
        of stream: StreamID,
        at position: Position,
        bundleId: inout RepeatedText
    ) throws -> Result<Event, Unreadable> {
        guard let word = try row.bytes(7), let bundle = try row.bytes(8),
            let evidence = try row.bytes(9), let content = try row.bytes(10)
        else { throw EventRows.malformed(position) }
        let parts = Parts(
            kind: Kind(word: word),
            content: content,
            bundleId: bundle,
            evidence: evidence,
            recordedAt: Instant(microseconds: try row.timestamptz(4)),
            purchaseDate: Instant(milliseconds: try row.int8(5)),
            expiresDate: Instant(milliseconds: try row.int8(6)),
            asOf: Instant(milliseconds: try row.int8(3))
        )
        do throws(Unreadable) {
            return .success(try event(parts, of: stream, at: position, &bundleId))
        } catch {
            return .failure(error)
        }
    }

    /// What an event is made of, as it was read; valid only as long as the memory it lies in.
    struct Parts {
        /// Nil for a word that this program does not know.
        let kind: Kind?
        let content: UnsafeRawBufferPointer
        /// Nil where it was not asked for: then empty.
        let bundleId: UnsafeRawBufferPointer?
        /// Nil where it was not asked for: then zero.
        let evidence: UnsafeRawBufferPointer?
        let recordedAt: Instant
        let purchaseDate: Instant
        let expiresDate: Instant
        let asOf: Instant
    }

    /// The event made of these parts; throws where one of them cannot be read.
    static func event(
        _ parts: Parts,
        of stream: StreamID,
        at position: Position,
        _ bundleId: inout RepeatedText
    ) throws(Unreadable) -> Event {
        guard let kind = parts.kind else {
            throw Unreadable(position, "Its kind is none that this program knows.")
        }
        guard let content = Content(canonicalBytes: [UInt8](parts.content)) else {
            throw Unreadable(
                position,
                "Its content does not have the form that this program writes."
            )
        }
        guard let bundle = parts.bundleId.map({ bundleId.text(of: $0) }) ?? "" else {
            throw Unreadable(position, "Its bundle_id is no UTF-8 text.")
        }
        guard let evidence = parts.evidence.map({ Digest(bytes: $0) }) ?? Digest.zero else {
            throw Unreadable(position, "Its evidence_digest does not have 32 bytes.")
        }
        let fact = Fact(
            stream: stream,
            bundleId: bundle,
            kind: kind,
            purchaseDate: parts.purchaseDate,
            expiresDate: parts.expiresDate,
            asOf: parts.asOf,
            content: content
        )
        return Event(
            position: position,
            recordedAt: parts.recordedAt,
            fact: fact,
            evidence: evidence
        )
    }

    /// Why an event is in no history.
    struct Unreadable: Error {
        let event: UnreadableEvent

        init(_ position: Position, _ reason: String) {
            event = UnreadableEvent(position: position, reason: reason)
        }
    }
}

/// A text that is nearly always the one of the row before.
struct RepeatedText: Sendable {
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
