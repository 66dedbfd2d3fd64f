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
    ///   - progress: Receives the progress after each payload, and before an error is thrown.
    /// - Returns: What became of all of them.
    /// - Throws: `EventLogError`, or what `next` threw.
    public func ingest(
        next: @escaping @Sendable () async throws -> [LocatedPayload]?,
        source: String,
        arrival: Arrival = .live,
        run: RunID = RunID(),
        voucher: Voucher = .unvouched,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        isStopped: () -> Bool = { false },
        progress: (IngestReport.Progress) -> Void = { _ in }
    ) async throws -> IngestReport {
        let startedAt = clock()
        let channel = Channel(
            source: source,
            arrival: arrival,
            voucher: voucher,
            startedAt: startedAt,
            mayHaveRefused: try await mayHaveRefused(arrival),
            clock: clock
        )
        return try await ingest(next, by: channel, run: run, isStopped, progress)
    }

    // What is taken is looked up among what was refused. Files are read in minutes, so that one look
    // at the beginning is enough where nothing was refused.
    private func mayHaveRefused(_ arrival: Arrival) async throws -> Bool {
        if arrival == .live { true } else { try await log.hasRejections() }
    }

    /// The same by a channel; leaves the run's statistics.
    func ingest(
        _ next: @escaping @Sendable () async throws -> [LocatedPayload]?,
        by channel: Channel,
        run: RunID = RunID(),
        _ isStopped: () -> Bool,
        _ progress: (IngestReport.Progress) -> Void
    ) async throws -> IngestReport {
        let report = try await ingest(next, by: channel, isStopped, progress)
        try await log.record(
            IngestionRun(
                id: run,
                source: channel.source,
                startedAt: channel.startedAt,
                finishedAt: channel.clock(),
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
            run.report.bodiesNotKept += try await log.record(run.refused.take())
        } catch {
            progress(run.report.progress)
            throw error
        }
        run.report.sortByInput()
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
                    // Who waits for input reads no more of it after a signal: that is no end.
                    if isStopped() { (held, run.report.wasStopped, isAtEnd) = ([], true, true) }
                case .ingested(let all):
                    for ingested in all {
                        run.finish(ingested)
                        if run.refused.isFull {
                            run.report.bodiesNotKept += try await log.record(run.refused.take())
                        }
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
        let looked = chunk.mayBeKnown ? chunk.payloads.map(\.located.recognised) : nil
        let known = try await knownEvidence(looked ?? [])
        var ingested: [Ingested] = []
        var verified: [(NumberedPayload, VerifiedPayload)] = []
        for (index, numbered) in chunk.payloads.enumerated() {
            let located = numbered.located
            let recognised = looked?[index] ?? located.recognised
            let now = channel.clock()
            do throws(Rejection) {
                let payload = try verifier.verify(
                    try recognised.get(),
                    source: located.refused?.source ?? channel.source,
                    arrival: located.refused?.arrival ?? channel.arrival,
                    receivedAt: located.refused?.receivedAt ?? now,
                    voucher: channel.voucher,
                    known: { known[$0] }
                )
                verified.append((numbered, payload))
            } catch {
                ingested.append(
                    Ingested(
                        numbered,
                        .failure(error),
                        facts: recognised.statementCount,
                        rejected: rejected(numbered, error, by: channel, at: now)
                    )
                )
            }
        }
        let appended = try await appendChunk(verified.map(\.1), known: Set(known.keys))
        if channel.mayHaveRefused {
            // What was left out for want of a proof is not in: such a payload stays open.
            let taken = verified.filter { !$0.1.leavesOutUnproven }.compactMap(\.0.located.digest)
            try await log.markTaken(taken, at: channel.clock())
        }
        for ((numbered, _), ingestion) in zip(verified, appended) {
            ingested.append(Ingested(numbered, .success(ingestion)))
        }
        return ingested
    }

    // Where there are no bytes there is nothing to keep: the report has it.
    private func rejected(
        _ numbered: NumberedPayload,
        _ rejection: Rejection,
        by channel: Channel,
        at now: Instant
    ) -> RejectedPayload? {
        let located = numbered.located
        guard case .success(let bytes) = located.payload else { return nil }
        return rejected(
            bytes,
            of: located.refused?.original,
            rejection,
            source: located.refused?.source ?? channel.source,
            at: located.refused?.location ?? located.path,
            arrival: located.refused?.arrival ?? channel.arrival,
            place: RejectedPayload.Place(
                runStartedAt: channel.startedAt,
                inputNumber: numbered.number
            ),
            now
        )
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
