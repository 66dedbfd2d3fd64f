import Foundation

/// A serial executor with its own thread, so blocking calls do not block other tasks.
///
/// The executor owns only the queue, and the thread retains the queue, because the last job of an
/// actor may release the actor and with it the executor, on this very thread.
package final class ThreadExecutor: SerialExecutor {
    private let queue = JobQueue()

    package init(name: String) {
        let queue = self.queue
        let thread = Thread { queue.run() }
        // Linux keeps 15 bytes of a thread's name; without a name it would show the creator's.
        thread.name = String(name.prefix(15))
        thread.start()
    }

    deinit { queue.close() }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.append(.ofActor(UnownedJob(job), asUnownedSerialExecutor()))
    }

    package func checkIsolated() {
        precondition(
            queue.isCurrentThread,
            "Work that belongs to a session's thread runs on another thread."
        )
    }

    package func isIsolatingCurrentContext() -> Bool? { queue.isCurrentThread }

    /// The same thread for work that belongs to no actor.
    ///
    /// A task that prefers it calls the actor of this thread without waking another thread.
    package var taskExecutor: any TaskExecutor { ThreadTaskExecutor(queue: queue) }
}

/// The thread of a ``ThreadExecutor`` for the parts of a task that belong to no actor.
private final class ThreadTaskExecutor: TaskExecutor {
    private let queue: JobQueue

    init(queue: JobQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        queue.append(.ofTask(UnownedJob(job), asUnownedTaskExecutor()))
    }
}

/// Jobs that wait for the thread.
///
/// Unchecked because the condition guards every stored property.
private final class JobQueue: @unchecked Sendable {
    enum Entry {
        case ofActor(UnownedJob, UnownedSerialExecutor)
        case ofTask(UnownedJob, UnownedTaskExecutor)

        func run() {
            switch self {
            case .ofActor(let job, let executor): job.runSynchronously(on: executor)
            case .ofTask(let job, let executor): job.runSynchronously(on: executor)
            }
        }
    }

    private let condition = NSCondition()
    private var entries: [Entry] = []
    private var thread: Thread?
    private var isClosed = false

    func append(_ entry: Entry) {
        condition.lock()
        entries.append(entry)
        condition.signal()
        condition.unlock()
    }

    func close() {
        condition.lock()
        isClosed = true
        condition.signal()
        condition.unlock()
    }

    var isCurrentThread: Bool {
        condition.lock()
        defer { condition.unlock() }
        return thread === Thread.current
    }

    func run() {
        condition.lock()
        thread = Thread.current
        condition.unlock()
        while let batch = next() {
            for entry in batch { entry.run() }
        }
        // The thread retains the queue through its block; without this the two would retain each
        // other.
        condition.lock()
        thread = nil
        condition.unlock()
    }

    private func next() -> [Entry]? {
        condition.lock()
        defer { condition.unlock() }
        while entries.isEmpty {
            if isClosed { return nil }
            condition.wait()
        }
        let batch = entries
        entries.removeAll(keepingCapacity: true)
        return batch
    }
}
