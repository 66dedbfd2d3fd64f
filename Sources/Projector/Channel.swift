#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Hands elements from the threads that fold to the one that writes, and blocks the faster.
///
/// All ends run on threads of their own (those of database sessions), never on the
/// cooperative pool, so blocking harms nobody and bounds the memory between them.
final class Channel<Element: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let waitingMax: Int
    // Guarded by `mutex`.
    private var waiting: [Element] = []
    private var isFinished = false
    private var isAbandoned = false

    /// A channel in which that many elements may wait: enough to keep the writer busy while the
    /// reader folds.
    init(waitingMax: Int = 8) {
        self.waitingMax = waitingMax
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Hands an element over; waits while the channel is full.
    ///
    /// False once the receiver has gone.
    func send(_ element: Element) -> Bool {
        locked {
            while waiting.count >= waitingMax, !isAbandoned { wait() }
            guard !isAbandoned else { return false }
            waiting.append(element)
            return true
        }
    }

    /// Says that no element follows.
    func finish() {
        locked { isFinished = true }
    }

    /// Says that no element will be taken any more, or that none that is whole will come.
    func abandon() {
        locked { isAbandoned = true }
    }

    /// Whether one end has given up.
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

/// One end of a channel has given up; its own error tells why.
struct ChannelAbandoned: Error {}
