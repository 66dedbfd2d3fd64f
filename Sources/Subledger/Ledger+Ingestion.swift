public import AppStore
public import EventLog
public import Events

extension Ledger {
    /// Payloads that are verified or appended at once.
    ///
    /// What waits while one commit is flushed is the next one, so there must be enough to fill it.
    public static let ingestWindow = 512

    /// Bytes of payloads that are held at once, so that memory is bounded whatever their size.
    public static let ingestBytesMax = 64 << 20

    /// Takes in payloads, many at a time, in bounded memory.
    ///
    /// A payload that is refused is kept among the rejections and does not stop the others. An
    /// error of the log stops everything; what was appended before it stays, and taking in the same
    /// payloads again completes the work.
    ///
    /// At its end, also when it was stopped, the run leaves a row of statistics (`ingestQuality`);
    /// one that ends by an error, or is killed, leaves none.
    ///
    /// - Parameters:
    ///   - next: Gives the next payload; nil after the last.
    ///   - source: The channel they came by.
    ///   - arrival: Whether they arrived live or by an import; kept with the evidence.
    ///   - run: The run they belong to; one run may take in several sources, each once.
    ///   - voucher: Who stands behind what is not signed.
    ///   - clock: Our clock.
    ///   - isStopped: Asked before each payload; true finishes what is under way and returns.
    ///   - progress: Told the report so far, after each payload.
    /// - Returns: What became of all of them.
    /// - Throws: `EventLogError`, or what `next` threw.
    public func ingest(
        next: () throws -> LocatedPayload?,
        source: String,
        arrival: Arrival = .live,
        run: RunID = RunID(),
        voucher: Voucher = .nobody,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        isStopped: () -> Bool = { false },
        progress: (IngestReport) -> Void = { _ in }
    ) async throws -> IngestReport {
        let startedAt = clock()
        let channel = Channel(source: source, arrival: arrival, voucher: voucher, clock: clock)
        let report = try await ingest(next, by: channel, isStopped, progress)
        try await log.keep(
            IngestionRun(
                id: run,
                source: source,
                startedAt: startedAt,
                finishedAt: clock(),
                wasStopped: report.wasStopped,
                counts: report.counts
            )
        )
        return report
    }

    private func ingest(
        _ next: () throws -> LocatedPayload?,
        by channel: Channel,
        _ isStopped: () -> Bool,
        _ progress: (IngestReport) -> Void
    ) async throws -> IngestReport {
        var report = IngestReport()
        var refused = RejectionBatch()
        try await withThrowingTaskGroup(of: [Ingested].self) { group in
            var payloads = 0
            var bytes = 0
            var repeats = RecentRepeats()
            var chunk: [LocatedPayload] = []
            func startChunk() {
                guard !chunk.isEmpty else { return }
                let payloads = chunk
                chunk = []
                group.addTask { try await ingestKnown(payloads, by: channel) }
            }
            func finishOne() async throws {
                startChunk()
                for ingested in try await group.next() ?? [] {
                    payloads -= 1
                    bytes -= ingested.byteCount
                    ingested.count(in: &report)
                    repeats.note(ingested.isUnchanged)
                    if let rejected = ingested.rejected { refused.add(rejected) }
                    if refused.isFull { try await log.keep(refused.take()) }
                    progress(report)
                }
            }
            while let located = try next() {
                guard !isStopped() else {
                    report.wasStopped = true
                    break
                }
                while payloads >= Ledger.ingestWindow
                    || (payloads > 0 && bytes + located.byteCount > Ledger.ingestBytesMax)
                {
                    try await finishOne()
                }
                payloads += 1
                bytes += located.byteCount
                if repeats.areMost {
                    chunk.append(located)
                    if chunk.count >= RecentRepeats.chunkMax { startChunk() }
                } else {
                    group.addTask { [try await ingest(located, by: channel)] }
                }
            }
            while payloads > 0 { try await finishOne() }
        }
        try await log.keep(refused.take())
        return report
    }

    // Looks up first which bytes are in evidence, for those need no second check of signatures.
    private func ingestKnown(
        _ payloads: [LocatedPayload],
        by channel: Channel
    ) async throws -> [Ingested] {
        var digests: [Digest] = []
        for case .success(let bytes) in payloads.map(\.payload) {
            digests += verifier.evidenceDigests(of: bytes)
        }
        let known = try await log.knownEvidence(digests)
        return try await withThrowingTaskGroup(of: Ingested.self) { group in
            for located in payloads {
                group.addTask { try await ingest(located, by: channel, known: known) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func ingest(
        _ located: LocatedPayload,
        by channel: Channel,
        known: [Digest: Verification] = [:]
    ) async throws -> Ingested {
        let now = channel.clock()
        let verified: VerifiedPayload
        do throws(Rejection) {
            verified = try verifier.verify(
                payload: try located.payload.get(),
                source: channel.source,
                arrival: channel.arrival,
                receivedAt: now,
                voucher: channel.voucher,
                known: { known[$0] }
            )
        } catch {
            // Where there are no bytes there is nothing to keep: the report tells of it.
            var kept: RejectedPayload?
            if case .success(let bytes) = located.payload {
                kept = rejected(bytes, error, source: channel.source, at: located.path, now)
            }
            return Ingested(located, .failure(error), rejected: kept)
        }
        return Ingested(located, .success(try await append(verified)))
    }
}

/// How the payloads of one run came.
private struct Channel: Sendable {
    let source: String
    let arrival: Arrival
    let voucher: Voucher
    let clock: @Sendable () -> Instant
}

extension LocatedPayload {
    fileprivate var byteCount: Int {
        switch payload {
        case .success(let bytes): bytes.count
        case .failure: 0
        }
    }
}

/// One payload's fate.
private struct Ingested: Sendable {
    let path: String
    let byteCount: Int
    let outcome: Result<Ledger.Ingestion, Rejection>
    /// What is to be kept of it; nil where it was taken, or had no bytes.
    let rejected: RejectedPayload?

    init(
        _ located: LocatedPayload,
        _ outcome: Result<Ledger.Ingestion, Rejection>,
        rejected: RejectedPayload? = nil
    ) {
        path = located.path
        byteCount = located.byteCount
        self.outcome = outcome
        self.rejected = rejected
    }

    /// Whether it was verified and brought nothing.
    var isUnchanged: Bool {
        if case .success(let ingestion) = outcome { ingestion.isUnchanged } else { false }
    }

    func count(in report: inout IngestReport) {
        switch outcome {
        case .success(let ingestion): report.take(ingestion, at: path)
        case .failure(let rejection): report.refuse(path, rejection)
        }
    }
}

/// Whether most of the payloads that were taken in last had been taken in before.
///
/// Then it pays to look their bytes up before their signatures are checked; of new ones it would only
/// cost.
private struct RecentRepeats {
    private var finished = 0
    private var unchanged = 0

    /// Whether the last whole window was mostly repeats.
    private(set) var areMost = false

    /// Payloads that are looked up in one statement.
    static let chunkMax = 64

    private static let windowPayloads = 128

    mutating func note(_ isUnchanged: Bool) {
        finished += 1
        if isUnchanged { unchanged += 1 }
        guard finished == RecentRepeats.windowPayloads else { return }
        areMost = unchanged > finished / 2
        (finished, unchanged) = (0, 0)
    }
}

/// Rejections that wait to be kept together: a statement each would cost a flush each.
private struct RejectionBatch {
    private var waiting: [RejectedPayload] = []
    private var bytes = 0

    /// Most rejections in one statement.
    private static let countMax = 512

    /// Bytes of bodies after which no more are gathered.
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
