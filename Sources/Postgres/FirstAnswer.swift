import Synchronization

/// The outcome of work that cannot be stopped, or of the wait for it, whichever comes first.
///
/// libpq connects, and resolves names, in calls that cannot be interrupted. The result of work that
/// no caller waits for any more is discarded.
final class FirstAnswer: Sendable {
    typealias Answer = Result<Void, PostgresError>

    private struct State {
        var answer: Answer?
        var waiting: CheckedContinuation<Answer, Never>?
    }

    private let state = Mutex(State())

    /// How often a wait checks whether its deadline has passed.
    private static let pollInterval = Duration.milliseconds(50)

    /// Runs work and waits for it until the deadline or the cancellation of the calling task.
    static func of(
        by deadline: Deadline?,
        _ work: @escaping @Sendable () async -> Answer
    ) async -> Answer {
        let first = FirstAnswer()
        Task { first.take(await work()) }
        if let deadline { Task { await first.watch(deadline) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { first.wait($0) }
        } onCancel: {
            first.take(.failure(Connection.cancelled()))
        }
    }

    private func watch(_ deadline: Deadline) async {
        while !deadline.isPassed {
            if state.withLock({ $0.answer != nil }) { return }
            // This task is never cancelled.
            do { try await Task.sleep(for: Self.pollInterval) } catch { return }
        }
        take(
            .failure(
                PostgresError(
                    .deadlinePassed,
                    "Could not connect to the database in time. Check that the server runs and "
                        + "answers."
                )
            )
        )
    }

    private func take(_ answer: Answer) {
        let waiting = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard state.answer == nil else { return nil }
            state.answer = answer
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: answer)
    }

    private func wait(_ continuation: CheckedContinuation<Answer, Never>) {
        let answer = state.withLock { state -> Answer? in
            if state.answer == nil { state.waiting = continuation }
            return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
    }
}
