import Events
import Synchronization
import TestSupport
import Testing

@testable import EventLog

/// How much of a log is read at once: it does not grow with the log.
@Suite(.enabled { await TestServer.isAvailable })
struct BoundedReadingTests {
    private static let commits = 4
    private static let factsPerCommit = 600

    @Test func `verify reads a log in pages, however long it is`() async throws {
        try await Self.withLongLog { log in
            let steps = Mutex<[Int64]>([])
            let report = try await log.verify { total in steps.withLock { $0.append(total) } }
            let total = Int64(Self.commits * Self.factsPerCommit)
            #expect(report.isOK && report.events == total)
            // A page is full at so many rows, and a commit is never split.
            let pageMax = Int64(LogVerifier.pageEventsMax + Self.factsPerCommit)
            #expect(total > pageMax)
            var before: Int64 = 0
            for total in steps.withLock({ $0 }) {
                #expect(total - before < pageMax)
                before = total
            }
            #expect(before == total)
        }
    }

    @Test func `a step of a follower ends before it would read too much`() async throws {
        try await Self.withLongLog { log in
            let start = log.origin(lane: 0)
            let perCommit = Int64(Self.factsPerCommit)
            for (statements, commit) in [
                (2 * perCommit, 2), (2 * perCommit - 1, 1), (3 * perCommit + 1, 3),
                // A commit is never split.
                (1, 1),
            ] {
                let end = try await log.head(lane: 0, after: start, statements: statements)
                #expect(end?.commit == Int64(commit), "\(statements) statements")
            }
            let newest = try #require(try await log.heads()[0])
            #expect(try await log.head(lane: 0, after: newest, statements: 1) == nil)
        }
    }

    /// Lends a log with a few commits of many events each.
    private static func withLongLog(_ body: (EventLog) async throws -> Void) async throws {
        let ids = Variant.plain.ids(inLane: 0, count: commits * factsPerCommit)
        try await Variant.plain.withLog { log, _ in
            for number in 0..<commits {
                let facts = ids[number * factsPerCommit..<(number + 1) * factsPerCommit].map {
                    TestFacts.transaction($0)
                }
                _ = try await log.append(verified(facts))
            }
            try await body(log)
        }
    }
}
