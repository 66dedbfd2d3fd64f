import Synchronization

/// Hands out the numbers of a list, each once.
final class WorkList: Sendable {
    private let count: Int
    private let taken = Atomic<Int>(0)

    init(count: Int) {
        self.count = count
    }

    func next() -> Int? {
        let index = taken.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < count ? index : nil
    }

    /// Does the pieces of a list with several workers, each of which takes the next piece.
    ///
    /// - Parameters:
    ///   - count: The number of pieces.
    ///   - workers: The number of workers.
    ///   - work: Does a piece, given the numbers of the worker and of the piece.
    /// - Throws: The first error of a piece.
    static func run(
        _ count: Int,
        workers: Int,
        _ work: @escaping @Sendable (_ worker: Int, _ index: Int) async throws -> Void
    ) async throws {
        let list = WorkList(count: count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    while let index = list.next() { try await work(worker, index) }
                }
            }
            try await group.waitForAll()
        }
    }
}
