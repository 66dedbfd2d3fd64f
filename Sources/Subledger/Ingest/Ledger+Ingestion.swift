package import AppStore
package import EventLog
package import Events

extension Ledger {
    /// Payloads that are verified or appended at once, for each lane, counting at most sixteen
    /// lanes.
    ///
    /// The appends that wait while one commit is flushed form the next one, so there must be enough
    /// to fill it; and every commit writes one lane.
    package static let ingestWindow = 512

    /// The most lanes that count for the window, so memory does not grow with their number.
    ///
    /// With 64 lanes on Citus, a maximum of 16 makes commits twice as large as 4, and hardly smaller
    /// than 64.
    static let ingestWindowLanesMax = 16

    /// Bytes of payloads that are held at once, so memory is bounded whatever their size.
    package static let ingestBytesMax = 64 << 20

    /// Ingests payloads, many at a time, in bounded memory.
    ///
    /// A refused payload is kept among the rejections and does not stop the others. An error of the
    /// log stops everything; what was appended before stays, and ingesting the same payloads again
    /// completes the work.
    ///
    /// When it ends or is stopped, the run leaves a row of statistics (`ingestQuality`); one that
    /// fails or is killed leaves none.
    ///
    /// - Parameters:
    ///   - next: Returns the next payloads, ideally all that are available without waiting for
    ///     more; nil after the last. One call at a time; its task is cancelled when the log refuses
    ///     something, so it does not have to wait for input any longer.
    ///   - source: The channel they came by.
    ///   - arrival: Whether they arrived live or through an import; kept with the evidence.
    ///   - run: The run they belong to; one run may ingest several sources, each once.
    ///   - voucher: Who vouches for what is not signed.
    ///   - clock: Our clock.
    ///   - isStopped: Called before and after each call of `next`; true finishes what is under way
    ///     and returns.
    ///   - progress: Receives the progress after each payload, and before an error is thrown.
    /// - Returns: The outcomes of all of them.
    /// - Throws: `EventLogError`, or what `next` threw.
    package func ingest(
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

    // Accepted payloads are looked up among the refused ones. Reading files takes minutes, so for
    // an import one look at the beginning is enough if nothing was refused before.
    private func mayHaveRefused(_ arrival: Arrival) async throws -> Bool {
        if arrival == .live { true } else { try await log.hasRejections() }
    }

    /// Ingests through a channel, and records the run's statistics.
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
        let lanes = min(log.identity.lanes.value, Ledger.ingestWindowLanesMax)
        var work = RunningIngest(window: Ledger.ingestWindow * lanes)
        do {
            try await take(all: next, by: channel, isStopped, progress, in: &work)
            work.report.bodiesNotKept += try await log.record(work.refused.take())
        } catch {
            progress(work.report.progress)
            throw error
        }
        work.report.sortByInput()
        return work.report
    }

    // Reading is a task like the others, so an error of the log is noticed at once, even while the
    // next input may be an hour away.
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
                // A partial chunk is not held back while the run only waits for input.
                if !isReading || run.isIdle, let rest = run.takeChunk() {
                    start(rest, by: channel, in: &group)
                }

                guard let step = try await group.next() else { return }
                switch step {
                case .read(let located):
                    isReading = false
                    isAtEnd = located == nil
                    held = located.map { $0[...] } ?? []
                    // After a signal, a source that waits for input stops reading; that is not the
                    // end of the input.
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
        // The signatures of bytes that are already evidence need no second check.
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
                        payload: numbered,
                        outcome: .failure(error),
                        facts: recognised.statementCount,
                        rejected: rejected(numbered, error, by: channel, at: now)
                    )
                )
            }
        }

        let appended = try await appendChunk(verified.map(\.1), known: Set(known.keys))
        if channel.mayHaveRefused {
            // A payload with a statement left out for lack of a proof stays open.
            let taken = verified.filter { !$0.1.leavesOutUnproven }.compactMap(\.0.located.digest)
            try await log.markTaken(taken, at: channel.clock())
        }
        for ((numbered, _), ingestion) in zip(verified, appended) {
            ingested.append(Ingested(payload: numbered, outcome: .success(ingestion)))
        }
        return ingested
    }

    // A rejection without bytes cannot be kept; the report lists it.
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
            // What is tried again came from anyone.
            sender: located.refused == nil ? .proven : .unproven,
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

    // A payload that the log refuses permanently must not keep out the others in its chunk.
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
