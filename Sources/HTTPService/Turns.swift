/// Runs callers' work on the same thing one after the other, in order of arrival.
actor Turns<Thing: Hashable & Sendable> {
    // The callers waiting for each thing that is in use.
    private var waiting: [Thing: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs the body when no other caller is using the thing.
    nonisolated func inTurn<Value: Sendable>(
        _ thing: Thing,
        _ body: () async throws -> Value
    ) async throws -> Value {
        await begin(thing)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await end(thing)
        return try result.get()
    }

    private func begin(_ thing: Thing) async {
        guard waiting[thing] != nil else {
            waiting[thing] = []
            return
        }
        await withCheckedContinuation { waiting[thing]?.append($0) }
    }

    private func end(_ thing: Thing) {
        guard let next = waiting[thing]?.first else {
            waiting[thing] = nil
            return
        }
        waiting[thing]?.removeFirst()
        next.resume()
    }
}
