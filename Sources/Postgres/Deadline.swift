internal import Synchronization

/// An instant after which no caller waits for the server any more.
///
/// A session with a deadline (``PostgresSession/setDeadline(_:)``) gives its connection up if the
/// deadline passes while it waits.
package struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant
    private let limit: DeadlineLimit?

    /// A deadline that far from now.
    ///
    /// - Parameters:
    ///   - duration: From now on; a negative one has already passed.
    ///   - limit: Brings the deadline forward once it is set; nil for none.
    package init(after duration: Duration, limit: DeadlineLimit? = nil) {
        instant = ContinuousClock.now + duration
        self.limit = limit
    }

    private init(_ instant: ContinuousClock.Instant, _ limit: DeadlineLimit?) {
        self.instant = instant
        self.limit = limit
    }

    /// Whether the deadline has passed.
    package var isPassed: Bool {
        let now = ContinuousClock.now
        if now >= instant { return true }
        return limit?.instant.map { now >= $0 } ?? false
    }

    /// This deadline, or that far from now if that is sooner.
    package func capped(after duration: Duration) -> Deadline {
        Deadline(min(instant, ContinuousClock.now + duration), limit)
    }

    /// The sooner of two deadlines, with the limit of the first.
    package func capped(by other: Deadline) -> Deadline {
        Deadline(min(instant, other.instant), limit)
    }
}

/// An end that many deadlines share, and that can be set while others already wait for them.
package final class DeadlineLimit: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// No end yet.
    package init() {}

    /// Ends all waiting that far from now; an earlier end that is already set stays.
    package func end(after duration: Duration) {
        let instant = ContinuousClock.now + duration
        end.withLock { $0 = min($0 ?? instant, instant) }
    }

    fileprivate var instant: ContinuousClock.Instant? { end.withLock { $0 } }
}
