#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Postgres

/// Hands chunks of rows from the threads that fold to the one that writes, and blocks the faster.
///
/// All ends run on threads of their own (those of database sessions), never on the
/// cooperative pool, so blocking harms nobody and bounds the memory between them.
///
/// The parts of a build can be sent at the same time and are received one after the other: a table
/// filled in the order of its primary key is indexed in a third of the time, and keeps the rows of
/// a subscription together.
final class ChunkChannel: @unchecked Sendable {
    /// Chunks that may wait: enough to keep the writer busy while the reader folds.
    static let chunksMax = 8

    /// Bytes of later parts that may wait while an earlier one goes on: more than a part of a spool
    /// makes for one table, so that whoever folds ahead seldom waits.
    static let earlyBytesMax = 1 << 20

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Guarded by `mutex`.
    private var chunks: [[UInt8]] = []
    // The part that is received now; what was sent of later ones, and which of them are complete.
    private var part = 0
    private var early: [Int: [[UInt8]]] = [:]
    private var earlyByteCount = 0
    private var finishedParts: Set<Int> = []
    private var isFinished = false
    private var isAbandoned = false
    private var hasBegun = false
    private var hasEnded = false

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

    /// Hands over a chunk of a part; waits while too much is ahead of the receiver.
    ///
    /// Parts count from 0 and are taken up in their order, so that somebody always works on the one
    /// that is received. False once the receiver has gone.
    func send(_ chunk: [UInt8], ofPart number: Int) -> Bool {
        locked {
            while !isAbandoned, !hasRoom(forPart: number) { wait() }
            guard !isAbandoned else { return false }
            if number == part {
                chunks.append(chunk)
            } else {
                early[number, default: []].append(chunk)
                earlyByteCount += chunk.count
            }
            return true
        }
    }

    /// Says that no chunk of that part follows.
    func finish(part number: Int) {
        locked {
            finishedParts.insert(number)
            while finishedParts.remove(part) != nil {
                part += 1
                let next = early.removeValue(forKey: part) ?? []
                earlyByteCount -= next.reduce(0) { $0 + $1.count }
                chunks += next
            }
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
    /// The first and the last are those that make the others one COPY in binary. Nil after the last.
    func receive() -> [UInt8]? {
        locked {
            if !hasBegun {
                hasBegun = true
                return CopyBinaryWriter.header
            }
            while chunks.isEmpty, !isFinished, !isAbandoned { wait() }
            guard !isAbandoned else { return nil }
            if !chunks.isEmpty { return chunks.removeFirst() }
            defer { hasEnded = true }
            return hasEnded ? nil : CopyBinaryWriter.trailer
        }
    }

    private func hasRoom(forPart number: Int) -> Bool {
        number == part
            ? chunks.count < ChunkChannel.chunksMax
            : earlyByteCount < ChunkChannel.earlyBytesMax
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
