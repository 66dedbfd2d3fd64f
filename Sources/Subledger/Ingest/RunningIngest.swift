internal import AppStore
internal import EventLog
internal import Events

/// What a task of a run has done.
enum Step: Sendable {
    /// Read the next payloads; nil at the end.
    case read([LocatedPayload]?)
    case ingested([Ingested])
}

/// Payloads that are verified by one task and appended together: a separate task and queue entry
/// for each would cost as much as a signature.
struct Chunk: Sendable {
    var payloads: [NumberedPayload] = []
    var byteCount = 0
    /// Whether they are looked up before they are verified.
    var mayBeKnown = false

    /// Payloads of a chunk: few enough to keep many processors busy; more if most payloads were
    /// ingested before, because the look-up is one statement.
    private static let countMax = 16
    private static let knownCountMax = 64

    /// Bytes at which a chunk is full: payloads of hundreds of rows justify a task each.
    private static let byteCountMax = 1 << 18

    var isFull: Bool {
        payloads.count >= (mayBeKnown ? Chunk.knownCountMax : Chunk.countMax)
            || byteCount >= Chunk.byteCountMax
    }
}

/// What a run holds in memory.
struct RunningIngest {
    var report = IngestReport()
    var refused = RejectionBatch()
    private var bytes = 0
    private var numbered: Int64 = 0
    private var repeats = RecentRepeats()
    private var chunk = Chunk()
    private let window: Int

    /// Nothing yet; at most `window` payloads will be under way at once.
    init(window: Int) {
        self.window = window
    }

    func hasRoom(for located: LocatedPayload) -> Bool {
        let count = report.underWay
        return count == 0
            || count < window && bytes + located.byteCount <= Ledger.ingestBytesMax
    }

    /// Adds a payload; returns the chunk to start now, nil while it waits for others.
    mutating func begin(_ located: LocatedPayload) -> Chunk? {
        report.underWay += 1
        bytes += located.byteCount
        if chunk.payloads.isEmpty { chunk.mayBeKnown = repeats.areMost }
        numbered += 1
        chunk.payloads.append(NumberedPayload(located: located, number: numbered))
        chunk.byteCount += located.byteCount
        return chunk.isFull ? takeChunk() : nil
    }

    /// Whether no started payload is unfinished.
    var isIdle: Bool { report.underWay == chunk.payloads.count }

    /// The payloads that wait to be started together; nil if there are none.
    mutating func takeChunk() -> Chunk? {
        defer { chunk = Chunk() }
        return chunk.payloads.isEmpty ? nil : chunk
    }

    mutating func finish(_ ingested: Ingested) {
        report.underWay -= 1
        bytes -= ingested.payload.located.byteCount
        ingested.count(in: &report)
        repeats.note(ingested.isUnchanged)
        if let rejected = ingested.rejected { refused.add(rejected) }
    }
}

/// How the payloads of one run arrived.
struct Channel: Sendable {
    let source: String
    let arrival: Arrival
    let voucher: Voucher
    let startedAt: Instant
    /// Whether accepted payloads may have been refused before.
    let mayHaveRefused: Bool
    let clock: @Sendable () -> Instant
}

/// A payload with its number in the input, from 1.
struct NumberedPayload: Sendable {
    let located: LocatedPayload
    let number: Int64
}

/// The outcome of one payload.
struct Ingested: Sendable {
    let payload: NumberedPayload
    let outcome: Result<Ledger.Ingestion, Rejection>
    /// Facts that were refused with it, as far as they can be counted.
    var facts = 0
    /// What to keep of it; nil if it was accepted, or had no bytes.
    var rejected: RejectedPayload?

    /// Whether it was verified and brought nothing new.
    var isUnchanged: Bool {
        if case .success(let ingestion) = outcome { ingestion.isUnchanged } else { false }
    }

    func count(in report: inout IngestReport) {
        let located = payload.located
        let place = InputPlace(path: located.path, number: payload.number)
        switch outcome {
        case .success(let ingestion):
            report.take(ingestion, at: place, byteCount: located.byteCount)
        case .failure(let rejection):
            report.refuse(
                rejection,
                at: place,
                facts: facts,
                byteCount: located.byteCount,
                // It is among the rejections now, or was before.
                isKept: rejected != nil || located.refused != nil
            )
        }
    }
}

/// Whether most of the last ingested payloads had been ingested before.
///
/// If so, looking up their bytes before checking their signatures saves time; for new payloads it
/// would only add cost.
private struct RecentRepeats {
    private var finished = 0
    private var unchanged = 0

    /// Whether the last whole window was mostly repeats.
    private(set) var areMost = false

    private static let windowPayloads = 128

    mutating func note(_ isUnchanged: Bool) {
        finished += 1
        if isUnchanged { unchanged += 1 }
        guard finished == RecentRepeats.windowPayloads else { return }
        areMost = unchanged > finished / 2
        (finished, unchanged) = (0, 0)
    }
}

/// Rejections that wait to be stored together: one statement each would cost one flush each.
struct RejectionBatch {
    private var waiting: [RejectedPayload] = []
    private var bytes = 0

    /// The most rejections in one statement.
    private static let countMax = 512

    /// Bytes of bodies at which no more are gathered.
    private static let bytesMax = 8 << 20

    var isFull: Bool {
        waiting.count >= RejectionBatch.countMax || bytes >= RejectionBatch.bytesMax
    }

    mutating func add(_ rejected: RejectedPayload) {
        waiting.append(rejected)
        bytes += rejected.body?.count ?? 0
    }

    mutating func take() -> [RejectedPayload] {
        defer {
            waiting = []
            bytes = 0
        }
        return waiting
    }
}
