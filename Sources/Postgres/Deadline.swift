internal import Synchronization

/// An instant after which nothing waits for the server any more.
///
/// A session with a deadline (``PostgresSession/setDeadline(_:)``) gives its connection up when the
/// deadline passes while it waits.
public struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant
    private let limit: DeadlineLimit?

    /// A deadline so long from now.
    ///
    /// - Parameters:
    ///   - duration: From now on; a negative one has passed already.
    ///   - limit: Brings it forward, once that is set; nil for none.
    public init(after duration: Duration, limit: DeadlineLimit? = nil) {
        instant = ContinuousClock.now + duration
        self.limit = limit
    }

    private init(_ instant: ContinuousClock.Instant, _ limit: DeadlineLimit?) {
        self.instant = instant
        self.limit = limit
    }

    /// Whether the instant is over.
    public var isPassed: Bool {
        let now = ContinuousClock.now
        if now >= instant { return true }
        return limit?.instant.map { now >= $0 } ?? false
    }

    /// This deadline, or one so long from now if that is sooner.
    public func capped(after duration: Duration) -> Deadline {
        Deadline(min(instant, ContinuousClock.now + duration), limit)
    }

    /// The sooner of two deadlines, with the limit of the first.
    public func capped(by other: Deadline) -> Deadline {
        Deadline(min(instant, other.instant), limit)
    }
}

/// An end that many deadlines share, and that is set while others already wait for them.
public final class DeadlineLimit: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// No end yet.
    public init() {}

    /// Ends all waiting so long from now; an earlier end that was set before stays.
    public func end(after duration: Duration) {
        let instant = ContinuousClock.now + duration
        end.withLock { $0 = min($0 ?? instant, instant) }
    }

    fileprivate var instant: ContinuousClock.Instant? { end.withLock { $0 } }
}
