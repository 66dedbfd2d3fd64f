internal import Synchronization

/// Whether a service was asked to stop.
package final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Not asked yet.
    package init() {}

    /// Whether it was.
    package var isSet: Bool { flag.load(ordering: .relaxed) }

    /// Asks it.
    package func set() { flag.store(true, ordering: .relaxed) }
}
