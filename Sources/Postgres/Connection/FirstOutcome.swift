import Synchronization

/// The outcome of work that cannot be stopped, or of the wait for it, whichever comes first.
///
/// libpq connects, and resolves names, in calls that cannot be interrupted. The result of work that
/// no caller waits for any more is discarded.
final class FirstOutcome: Sendable {
    typealias Outcome = Result<Void, PostgresError>

    private struct State {
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    /// How often a wait checks whether its deadline has passed.
    private static let pollInterval = Duration.milliseconds(50)

    /// Runs work and waits for it until the deadline or the cancellation of the calling task.
    static func run(
        by deadline: Deadline?,
        _ work: @escaping @Sendable () async -> Outcome
    ) async -> Outcome {
        let first = FirstOutcome()
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
            if state.withLock({ $0.outcome != nil }) { return }
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

    private func take(_ outcome: Outcome) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }

    private func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            if state.outcome == nil { state.waiting = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }
}
