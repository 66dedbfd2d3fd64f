import EventLog
import Foundation
import Projections
import Projector
import Subledger
import Synchronization
import TestSupport
import Testing

/// The threads on which a rebuild folds and hands over its results: a thread that waits there must
/// not be one that all tasks share.
@Suite(.enabled { await TestServer.isAvailable })
struct ReaderThreadTests {
    @Test(arguments: [1, Int64.max])
    func `the end of a range is handed over by the thread that read it`(
        spooledEventsMin: Int64
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.divided) { settings in
            var options = EventLog.Options()
            options.readersMax = 2
            options.spooledEventsMin = spooledEventsMin
            let log = try await EventLog.open(settings, options)
            let folding = ThreadsSeen()
            let ending = ThreadsSeen()
            let projector = Projector(
                log: log,
                settings: settings,
                projections: [Seen(threads: folding)]
            )
            var how = Projector.RebuildOptions()
            how.jobs = 2
            // So few subscriptions are counted only when a range has been handed over.
            how.progress = { _ in ending.note() }
            _ = try await projector.rebuild(nil, how)
            #expect(!ending.all.isEmpty && ending.all.isSubset(of: folding.all))
            await log.close()
        }
    }
}

/// The threads that were seen.
private final class ThreadsSeen: Sendable {
    private let seen = Mutex<Set<ObjectIdentifier>>([])

    var all: Set<ObjectIdentifier> { seen.withLock { $0 } }

    func note() { seen.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) } }
}

/// A projection without rows that records the threads it is folded on.
private struct Seen: Projection {
    let threads: ThreadsSeen
    let name = "seen"
    let version = 1
    let columns = ["events"]
    var tableSQL: String { table("events bigint") }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        threads.note()
        return []
    }
}
