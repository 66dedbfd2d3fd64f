internal import Events
internal import Postgres

/// What a scan read of one stream.
struct ScannedStream {
    /// Its events, by offset; without confirmations.
    var history: StreamHistory
    /// Its confirmations, by as-of, or the requested part of them.
    var confirmations: [ScannedConfirmation] = []

    /// The history with its confirmations.
    var complete: StreamHistory {
        var complete = history
        complete.confirmations = confirmations.map(\.repetition.confirmation)
        return complete
    }

    /// What of it was known up to a commit, which ends at an offset.
    func cut(offset: Int64, commit: Int64) -> ScannedStream {
        var known = history
        known.events.removeAll { $0.position.offset > offset }
        known.unreadable.removeAll { $0.position.offset > offset }
        return ScannedStream(
            history: known,
            confirmations: confirmations.filter { $0.commit <= commit }
        )
    }
}

/// A confirmation with the commit that brought it.
struct ScannedConfirmation {
    let repetition: RecordedHistory.Repetition
    let commit: Int64
}

/// Gathers the rows of events into histories.
struct StreamGathering: Sendable {
    private let lane: Lane
    private var histories: [StreamHistory] = []
    private var places: [StreamID: Int] = [:]
    // The bytes of the last row's stream and its place, because rows often come by stream.
    private var environment: [UInt8] = []
    private var id: [UInt8] = []
    private var place = 0
    private var bundleId = RepeatedText()

    init(lane: Lane) {
        self.lane = lane
    }

    mutating func take(_ row: borrowing CopyBinaryRow) throws {
        let position = Position(lane: lane, offset: try row.int8(2))
        let stream = try stream(of: row, at: position)
        switch try ScannedRow.event(in: row, of: stream, at: position, bundleId: &bundleId) {
        case .success(let event): histories[place].events.append(event)
        case .failure(let unreadable): histories[place].unreadable.append(unreadable.event)
        }
    }

    /// The histories in the order in which their first rows came, with their events by offset.
    func finished() -> [StreamHistory] {
        var finished = histories
        for index in finished.indices { finished[index].sortByPosition() }
        return finished
    }

    private mutating func stream(
        of row: borrowing CopyBinaryRow,
        at position: Position
    ) throws -> StreamID {
        guard let word = try row.bytes(0), let text = try row.bytes(1) else {
            throw EventRows.malformed(position)
        }
        if !histories.isEmpty, id.holds(text), environment.holds(word) {
            return histories[place].stream
        }
        (environment, id) = (Array(word), Array(text))
        let stream = try row.stream(0)
        place = places[stream] ?? histories.count
        if place == histories.count {
            places[stream] = place
            histories.append(StreamHistory(stream: stream, events: [], confirmations: []))
        }
        return stream
    }
}

/// The repetitions that a scan passes on.
enum KeptRepetitions {
    /// All, for callers that need to know when and by what something was repeated.
    case all
    /// Those that a fold needs (`RepetitionRuns`), so its memory does not grow with their number.
    ///
    /// None up to that commit replaces one after it.
    case neededByFolds(splitAt: Int64?)
}

/// Joins streams with the rows of their confirmations and passes them on, one at a time.
///
/// Both come in the order of `StreamID`. Only the confirmations of one stream are held in memory.
struct ConfirmationJoin {
    private let lane: Lane
    private let kept: KeptRepetitions
    private let next: () throws -> StreamHistory?
    private let fold: (ScannedStream) throws -> Void
    private var current: ScannedStream?
    private var runs: RepetitionRuns?

    /// The columns that `take` reads, from table alias `c`.
    static let columns =
        EventRows.confirmationColumns + ", c.commit_no, c.recorded_at, c.known_from_offset"

    /// A join of the streams that `next` returns, in order, until it returns nil.
    init(
        lane: Lane,
        keeping kept: KeptRepetitions,
        streams next: @escaping () throws -> StreamHistory?,
        fold: @escaping (ScannedStream) throws -> Void
    ) throws {
        self.lane = lane
        self.kept = kept
        self.next = next
        self.fold = fold
        current = try next().map { ScannedStream(history: $0) }
    }

    /// Takes a row of confirmations; those of a stream without events are skipped.
    mutating func take(_ row: borrowing CopyBinaryRow) throws {
        let found = try EventRows.confirmationRow(in: row)
        while let stream = current?.history.stream, stream < found.stream { try advance() }
        guard current?.history.stream == found.stream else { return }
        let commit = try row.int8(6)
        for repetition in try ConfirmationJoin.repetitions(in: row, lane: lane) {
            // Rows come by the earliest as-of in them.
            keep(ScannedConfirmation(repetition: repetition, commit: commit), floor: found.asOf)
        }
    }

    /// What a row of `columns` repeats, with when that became known.
    static func repetitions(
        in row: borrowing some PostgresFields & ~Copyable,
        lane: Lane
    ) throws -> [RecordedHistory.Repetition] {
        let recordedAt = Instant(microseconds: try row.timestamptz(7))
        let knownFrom = try row.int8(8)
        return try EventRows.confirmations(in: row, lane: lane).map {
            RecordedHistory.Repetition(
                confirmation: $0,
                recordedAt: recordedAt,
                knownFromOffset: knownFrom
            )
        }
    }

    private mutating func keep(_ scanned: ScannedConfirmation, floor: Instant) {
        if case .neededByFolds(let split) = kept {
            if runs == nil { runs = current.map { RepetitionRuns($0.history.events) } }
            let place = runs?.placeToReuse(
                for: scanned.repetition.confirmation,
                at: current?.confirmations.count ?? 0,
                floor: floor,
                isAfterSplit: split.map { scanned.commit > $0 } ?? false
            )
            if let place {
                current?.confirmations[place] = scanned
                return
            }
        }
        current?.confirmations.append(scanned)
    }

    /// Passes on the remaining streams.
    mutating func finish() throws {
        while current != nil { try advance() }
    }

    private mutating func advance() throws {
        guard let stream = current else { return }
        // Released before the next one is created.
        (current, runs) = (nil, nil)
        try fold(stream)
        current = try next().map { ScannedStream(history: $0) }
    }
}

extension EventLog {
    /// Passes on each stream that `next` returns, with its confirmations, which a COPY yields in
    /// the same order.
    static func join(
        lane: Lane,
        keeping kept: KeptRepetitions,
        streams next: @escaping () throws -> StreamHistory?,
        confirmations sql: String,
        in session: isolated PostgresSession,
        _ fold: @escaping (ScannedStream) throws -> Void
    ) throws {
        let box = Unshared(
            try ConfirmationJoin(lane: lane, keeping: kept, streams: next, fold: fold)
        )
        _ = try session.copyRows(sql, into: box) { try $0.value.take($1) }
        try box.value.finish()
    }
}

/// A value used only on the thread of the session that reads.
final class Unshared<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}

extension PostgresSession {
    /// Passes the rows of a binary COPY to a body that may throw any error.
    @inline(__always)
    func copyRows<State: Sendable>(
        _ sql: String,
        into state: State,
        _ take: @Sendable (inout State, borrowing CopyBinaryRow) throws -> Void
    ) throws -> State {
        do {
            return try copyOut(
                sql,
                into: state,
                rows: { state, row throws(Thrown) in
                    do { try take(&state, row) } catch { throw Thrown(any: error) }
                }
            )
        } catch {
            throw error.error
        }
    }
}

/// Decodes what all scans have in common from a row of their COPY.
enum ScannedRow {
    /// The columns of an event, in the order in which `event` reads them.
    static let columns = """
        environment, original_transaction_id, lane_offset, as_of_ms, recorded_at,
        purchase_date_ms, expires_date_ms, kind, bundle_id, evidence_no, content, is_imported
        """

    /// A link whose customer was erased is left out: without the customer it would read as an
    /// unlink.
    static let isNotErasedLink = "(kind <> 'link' OR octet_length(salt) = 16)"

    /// The event in a row of that stream, or the part of it that cannot be read.
    ///
    /// Throws only errors that no single event causes.
    static func event(
        in row: borrowing CopyBinaryRow,
        of stream: StreamID,
        at position: Position,
        bundleId: inout RepeatedText
    ) throws -> Result<Event, Unreadable> {
        guard let word = try row.bytes(7), let bundle = try row.bytes(8),
            let content = try row.bytes(10)
        else { throw EventRows.malformed(position) }
        let parts = Parts(
            kind: Kind(word: word),
            content: content,
            bundleId: bundle,
            evidence: try row.int8(9),
            isImported: try row.bool(11),
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

    /// The parts of an event as read; valid only while their memory is.
    struct Parts {
        /// Nil for a word that this program does not know.
        let kind: Kind?
        let content: UnsafeRawBufferPointer
        /// Nil if it was not requested; the event's is then empty.
        let bundleId: UnsafeRawBufferPointer?
        /// Zero if it was not requested.
        let evidence: Int64
        let isImported: Bool
        let recordedAt: Instant
        let purchaseDate: Instant
        let expiresDate: Instant
        let asOf: Instant
    }

    /// The event with these parts; throws if one of them cannot be read.
    static func event(
        _ parts: Parts,
        of stream: StreamID,
        at position: Position,
        _ bundleId: inout RepeatedText
    ) throws(Unreadable) -> Event {
        guard let kind = parts.kind else {
            throw Unreadable(position, "Its kind is unknown to this program.")
        }
        guard let content = Content(canonicalBytes: [UInt8](parts.content)) else {
            throw Unreadable(
                position,
                "Its content does not have the form that this program writes."
            )
        }
        guard let bundle = parts.bundleId.map({ bundleId.text(of: $0) }) ?? "" else {
            throw Unreadable(position, "Its bundle_id is not UTF-8 text.")
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
        guard fact.hasInstantsOfCalendar else {
            throw Unreadable(position, "One of its instants is outside of the years 1 to 9999.")
        }
        return Event(
            position: position,
            recordedAt: parts.recordedAt,
            fact: fact,
            evidence: parts.evidence,
            isImported: parts.isImported
        )
    }

    /// Why an event is missing from the history.
    struct Unreadable: Error {
        let event: UnreadableEvent

        init(_ position: Position, _ reason: String) {
            event = UnreadableEvent(position: position, reason: reason)
        }
    }
}

/// A text that is nearly always the same as in the previous row.
struct RepeatedText: Sendable {
    private var bytes: [UInt8] = []
    private var text = ""

    /// The text of these bytes; nil if they are not UTF-8.
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
