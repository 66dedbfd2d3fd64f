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
    ///   - next: Gives the next payloads, best all that are there without waiting for more; nil
    ///     after the last. One call at a time; its task is cancelled when the log refuses something,
    ///     so that it need not wait for input any longer.
    ///   - source: The channel they came by.
    ///   - arrival: Whether they arrived live or by an import; kept with the evidence.
    ///   - run: The run they belong to; one run may take in several sources, each once.
    ///   - voucher: Who stands behind what is not signed.
    ///   - clock: Our clock.
    ///   - isStopped: Asked before and after each call of `next`; true finishes what is under way
    ///     and returns.
    ///   - progress: Told how far it is after each payload, and before an error is thrown.
    /// - Returns: What became of all of them.
    /// - Throws: `EventLogError`, or what `next` threw.
    public func ingest(
        next: @escaping @Sendable () async throws -> [LocatedPayload]?,
        source: String,
        arrival: Arrival = .live,
        run: RunID = RunID(),
        voucher: Voucher = .nobody,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        isStopped: () -> Bool = { false },
        progress: (IngestReport.Progress) -> Void = { _ in }
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
        _ next: @escaping @Sendable () async throws -> [LocatedPayload]?,
        by channel: Channel,
        _ isStopped: () -> Bool,
        _ progress: (IngestReport.Progress) -> Void
    ) async throws -> IngestReport {
        var run = RunningIngest()
        do {
            try await take(all: next, by: channel, isStopped, progress, in: &run)
            try await log.keep(run.refused.take())
        } catch {
            progress(run.report.progress)
            throw error
        }
        return run.report
    }

    // Reading is a task like the others: a refusal of the log is seen at once, also while input is
    // waited for that may be an hour away.
    private func take(
        all next: @escaping @Sendable () async throws -> [LocatedPayload]?,
        by channel: Channel,
        _ isStopped: () -> Bool,
        _ progress: (IngestReport.Progress) -> Void,
        in run: inout RunningIngest
    ) async throws {
        try await withThrowingTaskGroup(of: Step.self) { group in
            var (isReading, isAtEnd) = (false, false)
            var held: ArraySlice<LocatedPayload> = []
            while true {
                while let located = held.first, run.hasRoom(for: located) {
                    held.removeFirst()
                    if let chunk = run.begin(located) { start(chunk, by: channel, in: &group) }
                }
                if held.isEmpty, !isReading, !isAtEnd {
                    if isStopped() {
                        (run.report.wasStopped, isAtEnd) = (true, true)
                    } else {
                        isReading = true
                        group.addTask { .read(try await next()) }
                    }
                }
                // What would wait for others waits for no input.
                if !isReading || run.isIdle, let rest = run.takeChunk() {
                    start(rest, by: channel, in: &group)
                }
                guard let step = try await group.next() else { return }
                switch step {
                case .read(let located):
                    isReading = false
                    isAtEnd = located == nil
                    held = located.map { $0[...] } ?? []
                    if !held.isEmpty, isStopped() {
                        (held, run.report.wasStopped, isAtEnd) = ([], true, true)
                    }
                case .ingested(let all):
                    for ingested in all {
                        run.finish(ingested)
                        if run.refused.isFull { try await log.keep(run.refused.take()) }
                        progress(run.report.progress)
                    }
                }
            }
        }
    }

    private func start(
        _ chunk: Chunk,
        by channel: Channel,
        in group: inout ThrowingTaskGroup<Step, any Error>
    ) {
        group.addTask { .ingested(try await ingest(chunk, by: channel)) }
    }

    // One after the other: other chunks keep the other processors busy.
    private func ingest(_ chunk: Chunk, by channel: Channel) async throws -> [Ingested] {
        // Bytes that are in evidence need no second check of their signatures.
        let looked = chunk.mayBeKnown ? chunk.payloads.map(\.recognised) : nil
        let known = try await knownEvidence(looked ?? [])
        var ingested: [Ingested] = []
        var verified: [(LocatedPayload, VerifiedPayload)] = []
        for (index, located) in chunk.payloads.enumerated() {
            let now = channel.clock()
            do throws(Rejection) {
                let payload = try verifier.verify(
                    try (looked?[index] ?? located.recognised).get(),
                    source: channel.source,
                    arrival: channel.arrival,
                    receivedAt: now,
                    voucher: channel.voucher,
                    known: { known[$0] }
                )
                verified.append((located, payload))
            } catch {
                // Where there are no bytes there is nothing to keep: the report tells of it.
                var kept: RejectedPayload?
                if case .success(let bytes) = located.payload {
                    kept = rejected(bytes, error, source: channel.source, at: located.path, now)
                }
                ingested.append(Ingested(located, .failure(error), rejected: kept))
            }
        }
        let appended = try await appendChunk(verified.map(\.1), known: Set(known.keys))
        for ((located, _), ingestion) in zip(verified, appended) {
            ingested.append(Ingested(located, .success(ingestion)))
        }
        return ingested
    }

    private func knownEvidence(
        _ payloads: [Result<RecognisedPayload, Rejection>]
    ) async throws -> [Digest: Verification] {
        var digests: [Digest] = []
        for case .success(let payload) in payloads {
            digests += verifier.evidenceDigests(of: payload)
        }
        return digests.isEmpty ? [:] : try await log.knownEvidence(digests)
    }

    // What the log refuses for ever must not keep what came with it out.
    private func appendChunk(
        _ verified: [VerifiedPayload],
        known: Set<Digest>
    ) async throws -> [Ingestion] {
        do throws(EventLogError) {
            return try await appendTogether(verified, known: known)
        } catch {
            guard verified.count > 1, !error.isRetryable else { throw error }
            var ingested: [Ingestion] = []
            for payload in verified {
                ingested += try await appendTogether([payload], known: known)
            }
            return ingested
        }
    }
}

extension LocatedPayload {
    /// Its form, or why it has none.
    fileprivate var recognised: Result<RecognisedPayload, Rejection> {
        payload.flatMap { bytes in
            do throws(Rejection) {
                return .success(try RecognisedPayload(bytes))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// What a task of a run has done.
private enum Step: Sendable {
    /// Read the next payloads; nil at the end.
    case read([LocatedPayload]?)
    case ingested([Ingested])
}

/// Payloads that are verified by one task and appended together: a task and a place in the queue of
/// appends each would cost as much as a signature.
private struct Chunk: Sendable {
    var payloads: [LocatedPayload] = []
    var byteCount = 0
    /// Whether they are looked up before they are verified.
    var mayBeKnown = false

    /// Payloads of a chunk: few enough to keep many processors busy, and more where most were taken
    /// in before, as the look-up is one statement.
    private static let countMax = 16
    private static let knownCountMax = 64

    /// Bytes from which a chunk is full: payloads of hundreds of rows are worth a task each.
    private static let byteCountMax = 1 << 18

    var isFull: Bool {
        payloads.count >= (mayBeKnown ? Chunk.knownCountMax : Chunk.countMax)
            || byteCount >= Chunk.byteCountMax
    }
}

/// What a run holds in memory.
private struct RunningIngest {
    var report = IngestReport()
    var refused = RejectionBatch()
    private var bytes = 0
    private var repeats = RecentRepeats()
    private var chunk = Chunk()

    func hasRoom(for located: LocatedPayload) -> Bool {
        let count = report.underWay
        return count == 0
            || count < Ledger.ingestWindow && bytes + located.byteCount <= Ledger.ingestBytesMax
    }

    /// Takes a payload in; returns what is to be begun now, nil while it waits for others.
    mutating func begin(_ located: LocatedPayload) -> Chunk? {
        report.underWay += 1
        bytes += located.byteCount
        if chunk.payloads.isEmpty { chunk.mayBeKnown = repeats.areMost }
        chunk.payloads.append(located)
        chunk.byteCount += located.byteCount
        return chunk.isFull ? takeChunk() : nil
    }

    /// Whether nothing is begun that is not finished.
    var isIdle: Bool { report.underWay == chunk.payloads.count }

    /// What waits to be begun together; nil for nothing.
    mutating func takeChunk() -> Chunk? {
        defer { chunk = Chunk() }
        return chunk.payloads.isEmpty ? nil : chunk
    }

    mutating func finish(_ ingested: Ingested) {
        report.underWay -= 1
        bytes -= ingested.byteCount
        ingested.count(in: &report)
        repeats.note(ingested.isUnchanged)
        if let rejected = ingested.rejected { refused.add(rejected) }
    }
}

/// How the payloads of one run came.
private struct Channel: Sendable {
    let source: String
    let arrival: Arrival
    let voucher: Voucher
    let clock: @Sendable () -> Instant
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
/// Then it pays to look their bytes up before their signatures are checked; of new ones it would
/// only cost.
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
