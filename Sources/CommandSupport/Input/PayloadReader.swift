import Foundation
import Synchronization
package import Subledger

/// Walks payloads on a separate thread: a pipe may have none for hours, and payloads already read
/// must be appended in the meantime, even on a machine with one processor.
package actor PayloadReader {
    private let executor = QueueExecutor()
    private var walk: PayloadWalk
    private let read = Atomic<Int64>(0)
    private let path = Mutex<String?>(nil)

    /// A reader of what the walk finds.
    package init(_ walk: sending PayloadWalk) { self.walk = walk }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The number of files that were skipped.
    package var skipped: Int { walk.skipped.files }

    /// Bytes read, as stored in files: compressed ones count with their compressed size.
    package nonisolated var bytesRead: Int64 { read.load(ordering: .relaxed) }

    /// What is being read; nil before the first and after the last input.
    package nonisolated var currentPath: String? { path.withLock { $0 } }

    /// What was skipped, as text.
    package var remarks: [String] { walk.skipped.sentences }

    /// The next payloads, as many as are available; nil after the last, and when the caller is
    /// cancelled.
    package func next() throws -> [LocatedPayload]? {
        defer {
            read.store(walk.bytesRead, ordering: .relaxed)
            path.withLock { $0 = walk.currentPath }
        }
        return try walk.nextBatch()
    }
}

/// Runs jobs on a dispatch queue, whose threads may block.
private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "payloads")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
