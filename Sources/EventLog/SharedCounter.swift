import Synchronization

/// A sum that several tasks add to, and that is reported as it grows.
final class SharedCounter: Sendable {
    private let sum = Mutex<Int64>(0)
    private let report: @Sendable (Int64) -> Void

    init(_ report: @escaping @Sendable (Int64) -> Void) {
        self.report = report
    }

    func add(_ count: Int64) {
        report(
            sum.withLock { sum in
                sum += count
                return sum
            }
        )
    }
}
