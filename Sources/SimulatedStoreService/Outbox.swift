internal import AppStoreSimulator
internal import Events
internal import Synchronization

/// An attempt to send a notification, and when it is due.
struct PlannedAttempt: Sendable {
    let sending: ServedStore.Sending
    /// From 0.
    let number: Int
    /// In real time.
    let due: Instant
    /// Whether the notification has arrived, and is sent again on purpose.
    private(set) var isRepetition = false

    init(sending: ServedStore.Sending, number: Int, due: Instant) {
        self.sending = sending
        self.number = number
        self.due = due
    }

    /// The same notification again, at once.
    var repetition: PlannedAttempt {
        var again = self
        again.isRepetition = true
        return again
    }

    /// The next attempt, this much later.
    func next(after milliseconds: Int64) -> PlannedAttempt {
        PlannedAttempt(sending: sending, number: number + 1, due: due.advanced(by: milliseconds))
    }
}

/// Attempts that wait until they are due, and the number in progress.
final class Outbox: Sendable {
    private let state = Mutex<(planned: [PlannedAttempt], underWay: Int)>(([], 0))
    private let underWayMax: Int

    init(underWayMax: Int) { self.underWayMax = underWayMax }

    /// Plans an attempt.
    func add(_ attempt: PlannedAttempt) { state.withLock { $0.planned.insert(inOrder: attempt) } }

    /// Takes the next attempt that is due; nil if none is, or too many are in progress.
    func takeDue(at now: Instant) -> PlannedAttempt? {
        state.withLock { state in
            guard state.underWay < underWayMax, let next = state.planned.last, next.due <= now
            else { return nil }
            state.underWay += 1
            return state.planned.removeLast()
        }
    }

    /// Records that an attempt has ended, and plans the next one if there is one.
    func end(with next: PlannedAttempt?) {
        state.withLock { state in
            state.underWay -= 1
            if let next { state.planned.insert(inOrder: next) }
        }
    }

    /// When the next attempt that fits within the limit is due; nil if there is none.
    var due: Instant? {
        state.withLock { $0.underWay < underWayMax ? $0.planned.last?.due : nil }
    }
}

extension [PlannedAttempt] {
    // The next one is last in the array; if several are due together, the earliest signed is next.
    fileprivate mutating func insert(inOrder attempt: PlannedAttempt) {
        insert(
            attempt,
            at: firstSortedIndex { ($0.due, $0.sending) <= (attempt.due, attempt.sending) }
        )
    }
}

extension [ServedStore.Sending] {
    /// The index of the first one after another, in a sorted array.
    func firstIndex(after sending: ServedStore.Sending) -> Int { firstSortedIndex { $0 > sending } }
}

extension Array {
    /// The index of the first element with a property that all elements after it have as well; the
    /// count if none has it.
    fileprivate func firstSortedIndex(where hasProperty: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if hasProperty(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
