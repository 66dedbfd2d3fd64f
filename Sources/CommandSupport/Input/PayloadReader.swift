import Foundation
import Synchronization
package import Subledger

/// Walks payloads on a separate thread: a pipe may have none for hours, and payloads already read
/// must be appended in the meantime, even on a machine with one processor.
package actor PayloadReader {
    private let executor = QueueExecutor()
    private var walk: PayloadWalk
    private let read = Atomic<Int64>(0)

    /// A reader of what the walk finds.
    package init(_ walk: sending PayloadWalk) { self.walk = walk }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The number of files that were skipped.
    package var skipped: Int { walk.skipped.files }

    /// Bytes read, as stored in files: compressed ones count with their compressed size.
    package nonisolated var bytesRead: Int64 { read.load(ordering: .relaxed) }

    /// What was skipped, as text.
    package var remarks: [String] { walk.skipped.sentences }

    /// The next payloads, as many as are available; nil after the last, and when the caller is
    /// cancelled.
    package func next() throws -> [LocatedPayload]? {
        defer { read.store(walk.bytesRead, ordering: .relaxed) }
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
