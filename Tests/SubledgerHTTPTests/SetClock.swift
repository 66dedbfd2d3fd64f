import Events
import Synchronization

/// A clock that stands still until it is moved.
final class SetClock: Sendable {
    private let instant: Mutex<Instant>

    init(_ instant: Instant) { self.instant = Mutex(instant) }

    var now: Instant { instant.withLock { $0 } }

    func advance(milliseconds: Int64) {
        instant.withLock { $0 = Instant(milliseconds: $0.milliseconds + milliseconds) }
    }
}
