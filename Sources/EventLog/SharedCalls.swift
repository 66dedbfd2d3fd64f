/// Callers that wait to share one statement: a caller that arrives while it runs for others shares
/// the next one.
actor SharedCalls<Asked: Sendable, Found: Sendable> {
    /// Does the work for several callers.
    typealias Work = @Sendable ([Asked]) async throws(EventLogError) -> Found

    private struct Waiting {
        let asked: Asked
        let size: Int
        let answer: CheckedContinuation<Result<Found, EventLogError>, Never>
    }

    private let sizeMax: Int
    private var waiting: [Waiting] = []
    private var isWorking = false

    /// Callers share a statement up to that size; one caller may have more.
    init(sizeMax: Int) {
        self.sizeMax = sizeMax
    }

    /// Does the work for this caller, together with others.
    ///
    /// - Parameters:
    ///   - asked: What this caller asks.
    ///   - size: How much that is.
    ///   - work: Does it for many; what it returns, or its error, goes to all of them.
    /// - Returns: What the work returned.
    /// - Throws: What the work throws.
    func join(
        _ asked: Asked,
        size: Int,
        _ work: @escaping Work
    ) async throws(EventLogError) -> Found {
        let result = await withCheckedContinuation { answer in
            waiting.append(Waiting(asked: asked, size: size, answer: answer))
            guard !isWorking else { return }
            isWorking = true
            // Runs in a task of its own, because the caller's may be cancelled while others wait.
            Task { await self.drain(work) }
        }
        return try result.get()
    }

    /// Callers whose statement has not begun.
    var waitingCount: Int { waiting.count }

    private func drain(_ work: Work) async {
        while !waiting.isEmpty {
            var (count, size) = (1, waiting[0].size)
            while count < waiting.count {
                size += waiting[count].size
                guard size <= sizeMax else { break }
                count += 1
            }
            let batch = Array(waiting.prefix(count))
            waiting.removeFirst(count)
            let result: Result<Found, EventLogError>
            do throws(EventLogError) {
                result = .success(try await work(batch.map(\.asked)))
            } catch {
                result = .failure(error)
            }
            for caller in batch { caller.answer.resume(returning: result) }
        }
        isWorking = false
    }
}
