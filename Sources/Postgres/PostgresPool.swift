import Synchronization

/// A bounded set of sessions for borrowing.
///
/// Sessions are opened on demand and broken ones are dropped; after a server restart, the next
/// caller connects again. Waiting is first come, first served.
package final class PostgresPool: Sendable {
    /// A ledger needs few sessions at once; more would only queue in the server.
    package static let sessionsMaxDefault = 8

    /// Longer than any healthy statement of ours takes, shorter than a web request may take.
    package static let acquireTimeoutDefault = Duration.seconds(10)

    private enum Grant: Sendable {
        case session(PostgresSession)
        /// The right to open a session, which counts as open from then on.
        case place
        case timedOut
        case cancelled
        case closed
    }

    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Grant, Never>
        let timer: Task<Void, Never>

        func resume(_ grant: Grant) {
            timer.cancel()
            continuation.resume(returning: grant)
        }
    }

    private struct State {
        var idle: [PostgresSession] = []
        var places = 0
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
        var isClosed = false
    }

    private let settings: ConnectionSettings
    private let sessionsMax: Int
    private let acquireTimeout: Duration
    private let state = Mutex(State())

    /// Creates a pool that has not opened any session yet.
    ///
    /// Precondition: `sessionsMax` is at least 1.
    package init(
        _ settings: ConnectionSettings,
        sessionsMax: Int = PostgresPool.sessionsMaxDefault,
        acquireTimeout: Duration = PostgresPool.acquireTimeoutDefault
    ) {
        precondition(sessionsMax >= 1, "A pool needs room for at least one session.")
        self.settings = settings
        self.sessionsMax = sessionsMax
        self.acquireTimeout = acquireTimeout
    }

    /// How many sessions there are, and how many callers wait for one.
    package struct Usage: Hashable, Sendable {
        /// Open sessions, including borrowed ones.
        package let open: Int
        /// Open sessions that are not borrowed.
        package let idle: Int
        /// Callers that wait for a session.
        package let waiting: Int
    }

    /// The current use of the pool.
    package var usage: Usage {
        state.withLock { state in
            Usage(open: state.places, idle: state.idle.count, waiting: state.waiters.count)
        }
    }

    /// Lends a session to `body` for the duration of the call.
    ///
    /// A session that is returned broken or inside a transaction is dropped. A body that borrows
    /// again from the same pool may wait for itself.
    ///
    /// - Parameters:
    ///   - deadline: Limits the opening of a session, and all waiting of the body in it.
    ///   - isolation: The actor of the caller.
    ///   - body: Uses the session.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; before that `poolTimeout`, `closed`, `cancelled` or the
    ///   errors of ``PostgresSession/connect(_:by:)``.
    package func withSession<R, E: PostgresErrorConvertible>(
        by deadline: Deadline? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresSession) async throws(E) -> R
    ) async throws(E) -> R {
        let session: PostgresSession
        do throws(PostgresError) {
            session = try await acquire(by: deadline)
        } catch {
            throw E(error)
        }
        do throws(E) {
            if deadline != nil { await session.setDeadline(deadline) }
            let result = try await body(session)
            if deadline != nil { await session.setDeadline(nil) }
            await release(session)
            return result
        } catch {
            if deadline != nil { await session.setDeadline(nil) }
            await release(session)
            throw error
        }
    }

    /// Closes all idle sessions now, and borrowed ones when they are returned.
    ///
    /// Callers that wait now or ask later get `closed`.
    package func close() async {
        let (idle, waiters) = state.withLock { state in
            state.isClosed = true
            defer {
                state.places -= state.idle.count
                state.idle = []
                state.waiters = []
            }
            return (state.idle, state.waiters)
        }
        for waiter in waiters { waiter.resume(.closed) }
        for session in idle { await session.close() }
    }
}

extension PostgresPool {
    private func acquire(
        by deadline: Deadline?
    ) async throws(PostgresError) -> PostgresSession {
        var grant = await ask()
        while true {
            switch grant {
            case .session(let session):
                if await session.isReusable { return session }
                await session.close()
                grant = .place
            case .place:
                return try await openSession(by: deadline)
            case .timedOut:
                throw PostgresError(
                    .poolTimeout,
                    "None of the \(sessionsMax) sessions became free within \(acquireTimeout). "
                        + "Hold sessions for a shorter time, or allow more."
                )
            case .cancelled:
                throw PostgresError(
                    .cancelled,
                    "Waiting for a session ended because the task was cancelled."
                )
            case .closed:
                throw PostgresError(.closed, "The pool was closed. Create a new one.")
            }
        }
    }

    private func openSession(
        by deadline: Deadline?
    ) async throws(PostgresError) -> PostgresSession {
        do throws(PostgresError) {
            return try await PostgresSession.connect(settings, by: deadline)
        } catch {
            freePlace()
            throw error
        }
    }

    private func ask() async -> Grant {
        if let grant = state.withLock({ takeNow(&$0) }) { return grant }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { enqueue(number, $0) }
        } onCancel: {
            giveUp(number, .cancelled)
        }
    }

    private func takeNow(_ state: inout State) -> Grant? {
        if state.isClosed { return .closed }
        if let session = state.idle.popLast() { return .session(session) }
        guard state.places < sessionsMax else { return nil }
        state.places += 1
        return .place
    }

    private func enqueue(_ number: UInt64, _ continuation: CheckedContinuation<Grant, Never>) {
        let grant: Grant? = state.withLock { state in
            // In the meantime a session may have become free, or the task may have been cancelled.
            if let grant = takeNow(&state) { return grant }
            if Task.isCancelled { return .cancelled }
            state.waiters.append(
                Waiter(number: number, continuation: continuation, timer: startTimer(number))
            )
            return nil
        }
        if let grant { continuation.resume(returning: grant) }
    }

    private func startTimer(_ number: UInt64) -> Task<Void, Never> {
        Task { [weak self, acquireTimeout] in
            do {
                try await Task.sleep(for: acquireTimeout)
                self?.giveUp(number, .timedOut)
            } catch {
                // The wait ended first and cancelled its timer.
                return
            }
        }
    }

    private func giveUp(_ number: UInt64, _ grant: Grant) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.waiters.remove(at: index)
        }
        waiter?.resume(grant)
    }

    private func release(_ session: PostgresSession) async {
        guard await session.isReusable else {
            await session.close()
            freePlace()
            return
        }
        enum Next {
            case lend(Waiter)
            case keep
            case close
        }
        let next: Next = state.withLock { state in
            if state.isClosed {
                state.places -= 1
                return .close
            }
            if !state.waiters.isEmpty { return .lend(state.waiters.removeFirst()) }
            state.idle.append(session)
            return .keep
        }
        switch next {
        case .lend(let waiter): waiter.resume(.session(session))
        case .keep: return
        case .close: await session.close()
        }
    }

    /// Gives the place of a closed session to the next waiting caller.
    private func freePlace() {
        let waiter = state.withLock { state -> Waiter? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.places -= 1
            return nil
        }
        waiter?.resume(.place)
    }
}
