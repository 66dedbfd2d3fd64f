internal import AppStoreSimulator
internal import Synchronization

/// Selects the requests that fail on purpose: a share of them, drawn from the seed in order.
final class FailingRequests: Sendable {
    private let share: Double
    private let generator: Mutex<SeededGenerator>

    init(share: Double, seed: UInt64) {
        self.share = share
        generator = Mutex(SeededGenerator(seed: seed, branch: 0x4552_524f_5253))
    }

    /// Whether the next request fails.
    func isNext() -> Bool {
        guard share > 0 else { return false }
        return generator.withLock {
            Double($0.integer(in: 0...999_999)) < share * 1_000_000
        }
    }
}
