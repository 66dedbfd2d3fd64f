internal import Dispatch

extension Array where Element: Sendable {
    /// The result for each element, in their order, computed on all cores if there are many.
    ///
    /// - Parameter transform: A pure function; it runs on several threads at once.
    /// - Returns: The results.
    func mappedOnAllCores<Result: Sendable>(
        _ transform: @Sendable (Element) -> Result
    ) -> [Result] {
        guard count >= allCoresMin else { return map(transform) }
        return [Result](unsafeUninitializedCapacity: count) { results, made in
            nonisolated(unsafe) let places = results
            DispatchQueue.concurrentPerform(iterations: count) { index in
                // Each thread initialises places of its own.
                places.initializeElement(at: index, to: transform(self[index]))
            }
            made = count
        }
    }
}

/// Below this, waking other threads costs more than they save.
private let allCoresMin = 64
