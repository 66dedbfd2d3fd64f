import Synchronization

/// Whether somebody asked a service to stop.
final class ManagedStop: Sendable {
    private let flag = Atomic<Bool>(false)

    var isRequested: Bool { flag.load(ordering: .relaxed) }

    func request() { flag.store(true, ordering: .relaxed) }
}
