/// Runs callers' work on the same thing one after the other, in order of arrival.
actor Turns<Thing: Hashable & Sendable> {
    private struct Waiter {
        let number: Int
        /// Resumed with whether it is the caller's turn.
        let turn: CheckedContinuation<Bool, Never>
    }

    // The callers waiting for each thing that is in use.
    private var waiting: [Thing: [Waiter]] = [:]
    private var count = 0

    /// Runs the body when no other caller is using the thing.
    ///
    /// - Parameters:
    ///   - thing: The thing.
    ///   - secondsMax: Seconds to wait for the turn; 0 for any number.
    ///   - body: The work.
    /// - Returns: What the body returns.
    /// - Throws: `Problem` 503 if the turn did not come in time; what the body throws.
    nonisolated func inTurn<Value: Sendable>(
        _ thing: Thing,
        within secondsMax: Double,
        _ body: () async throws -> Value
    ) async throws -> Value {
        guard await begin(thing, within: secondsMax) else { throw Problem.heldUp }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await end(thing)
        return try result.get()
    }

    private func begin(_ thing: Thing, within secondsMax: Double) async -> Bool {
        guard waiting[thing] != nil else {
            waiting[thing] = []
            return true
        }
        count += 1
        let number = count
        let alarm = Task {
            guard secondsMax > 0 else { return }
            try await Task.sleep(for: .seconds(secondsMax))
            leave(number, thing)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation {
            waiting[thing]?.append(Waiter(number: number, turn: $0))
        }
    }

    private func leave(_ number: Int, _ thing: Thing) {
        guard let index = waiting[thing]?.firstIndex(where: { $0.number == number }) else { return }
        waiting[thing]?.remove(at: index).turn.resume(returning: false)
    }

    private func end(_ thing: Thing) {
        guard let next = waiting[thing]?.first else {
            waiting[thing] = nil
            return
        }
        waiting[thing]?.removeFirst()
        next.turn.resume(returning: true)
    }
}
