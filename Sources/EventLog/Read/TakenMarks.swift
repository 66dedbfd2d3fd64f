internal import Events

/// Payloads that one caller accepted, with the time.
struct TakenMark: Sendable {
    let digests: [Digest]
    let instant: Instant
}

/// Callers that wait to share one statement: a caller that arrives while it runs for others shares
/// the next one.
actor TakenMarks {
    private struct Waiting {
        let mark: TakenMark
        let answer: CheckedContinuation<Result<Void, EventLogError>, Never>
    }

    private var waiting: [Waiting] = []
    private var isWorking = false

    /// Digests up to which callers share a statement; one caller may have more.
    private static let digestsMax = 2_000

    /// Does the work for the marks of this caller, together with those of others.
    ///
    /// - Parameters:
    ///   - mark: What this caller accepted.
    ///   - work: Does it for many; its error goes to all of them.
    /// - Throws: What the work throws.
    func join(
        _ mark: TakenMark,
        _ work: @escaping @Sendable ([TakenMark]) async throws(EventLogError) -> Void
    ) async throws(EventLogError) {
        let result = await withCheckedContinuation { answer in
            waiting.append(Waiting(mark: mark, answer: answer))
            guard !isWorking else { return }
            isWorking = true
            // Runs in a task of its own, because the caller's may be cancelled while others wait.
            Task { await self.drain(work) }
        }
        try result.get()
    }

    /// Callers whose statement has not begun.
    var waitingCount: Int { waiting.count }

    private func drain(
        _ work: @Sendable ([TakenMark]) async throws(EventLogError) -> Void
    ) async {
        while !waiting.isEmpty {
            var (count, digests) = (1, waiting[0].mark.digests.count)
            while count < waiting.count {
                digests += waiting[count].mark.digests.count
                guard digests <= TakenMarks.digestsMax else { break }
                count += 1
            }
            let batch = Array(waiting.prefix(count))
            waiting.removeFirst(count)
            let result: Result<Void, EventLogError>
            do throws(EventLogError) {
                try await work(batch.map(\.mark))
                result = .success(())
            } catch {
                result = .failure(error)
            }
            for caller in batch { caller.answer.resume(returning: result) }
        }
        isWorking = false
    }
}
