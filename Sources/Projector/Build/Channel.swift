#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Passes elements from the threads that fold to the one that writes, and blocks the faster side.
///
/// All ends run on threads of their own (those of database sessions), never on the cooperative
/// pool, so blocking is harmless and bounds the memory between them.
///
/// The parts of a build can be sent at the same time and are received one after the other: a table
/// filled in the order of its primary key is indexed in a third of the time, and keeps the rows of
/// a subscription together.
final class Channel<Element: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let waitingMax: Int
    private let earlyMax: Int
    // Guarded by `mutex`.
    private var waiting: [Element] = []
    // The part being received; the elements of later parts, and which of these are complete.
    private var part = 0
    private var early: [Int: [Element]] = [:]
    private var earlyCount = 0
    private var finishedParts: Set<Int> = []
    private var isFinished = false
    private var isAbandoned = false

    /// A channel with a limit of waiting elements, enough to keep the writer busy while the reader
    /// folds, and a limit of elements of later parts: more than a part has, so a fold that is ahead
    /// seldom waits.
    init(waitingMax: Int = 8, earlyMax: Int = 16) {
        self.waitingMax = waitingMax
        self.earlyMax = earlyMax
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Sends an element; waits while the channel is full.
    ///
    /// False once the receiver is gone.
    func send(_ element: Element) -> Bool {
        locked {
            while waiting.count >= waitingMax, !isAbandoned { wait() }
            guard !isAbandoned else { return false }
            waiting.append(element)
            return true
        }
    }

    /// Sends an element of a part; waits while too many elements are ahead of the receiver.
    ///
    /// Parts count from 0 and are started in order, so the one being received is always being
    /// worked on. False once the receiver is gone.
    func send(_ element: Element, ofPart number: Int) -> Bool {
        locked {
            while !isAbandoned, !hasRoom(forPart: number) { wait() }
            guard !isAbandoned else { return false }
            if number == part {
                waiting.append(element)
            } else {
                early[number, default: []].append(element)
                earlyCount += 1
            }
            return true
        }
    }

    /// Marks a part as complete.
    func finish(part number: Int) {
        locked {
            finishedParts.insert(number)
            while finishedParts.remove(part) != nil {
                part += 1
                let next = early.removeValue(forKey: part) ?? []
                earlyCount -= next.count
                waiting += next
            }
        }
    }

    /// Marks the channel as complete.
    func finish() {
        locked { isFinished = true }
    }

    /// Abandons the channel: no further element will be received, or the elements will never be
    /// complete.
    func abandon() {
        locked { isAbandoned = true }
    }

    /// Whether either end has abandoned the channel.
    var wasAbandoned: Bool { locked { isAbandoned } }

    /// The next element; waits for it.
    ///
    /// Nil after the last.
    func receive() -> Element? {
        locked {
            while waiting.isEmpty, !isFinished, !isAbandoned { wait() }
            guard !isAbandoned, !waiting.isEmpty else { return nil }
            return waiting.removeFirst()
        }
    }

    private func hasRoom(forPart number: Int) -> Bool {
        number == part ? waiting.count < waitingMax : earlyCount < earlyMax
    }

    private func locked<R>(_ body: () -> R) -> R {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }
        return body()
    }

    private func wait() {
        pthread_cond_wait(changed, mutex)
    }
}

/// One end of a channel has abandoned it; its own error is the cause.
struct ChannelAbandoned: Error {}
