import Foundation
import Synchronization
package import Subledger

/// Walks payloads on a thread of its own: a pipe may have none for hours, and what is read must be
/// appended meanwhile, on a machine with one processor, too.
package actor PayloadReader {
    private let executor = QueueExecutor()
    private var walk: PayloadWalk
    private let read = Atomic<Int64>(0)

    /// A reader of what the walk finds.
    package init(_ walk: sending PayloadWalk) { self.walk = walk }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Files that were passed over.
    package var skipped: Int { walk.skipped.files }

    /// Bytes that were read, as they lie in files: packed ones count as they are packed.
    package nonisolated var bytesRead: Int64 { read.load(ordering: .relaxed) }

    /// What was passed over, in words.
    package var remarks: [String] { walk.skipped.sentences }

    /// The next payloads, as many as are there; nil after the last, and when nobody waits for one
    /// any more.
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
