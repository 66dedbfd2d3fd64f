#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Hands chunks of bytes from one thread to another, and blocks the faster of the two.
///
/// Both ends run on threads of their own (those of two database sessions), never on the
/// cooperative pool, so blocking harms nobody and bounds the memory between them.
final class ChunkChannel: @unchecked Sendable {
    /// Chunks that may wait: enough to keep the writer busy while the reader folds.
    static let chunksMax = 8

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Guarded by `mutex`.
    private var chunks: [[UInt8]] = []
    private var isFinished = false
    private var isAbandoned = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Hands a chunk over; waits while the channel is full.
    ///
    /// False once the receiver has gone.
    func send(_ chunk: [UInt8]) -> Bool {
        locked {
            while chunks.count >= ChunkChannel.chunksMax, !isAbandoned { wait() }
            guard !isAbandoned else { return false }
            chunks.append(chunk)
            return true
        }
    }

    /// Says that no chunk follows.
    func finish() {
        locked { isFinished = true }
    }

    /// Says that no chunk will be taken any more.
    func abandon() {
        locked { isAbandoned = true }
    }

    /// Whether no chunk will be taken any more.
    var wasAbandoned: Bool { locked { isAbandoned } }

    /// The next chunk; waits for it.
    ///
    /// Nil after the last.
    func receive() -> [UInt8]? {
        locked {
            while chunks.isEmpty, !isFinished, !isAbandoned { wait() }
            return chunks.isEmpty || isAbandoned ? nil : chunks.removeFirst()
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
