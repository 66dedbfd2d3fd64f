import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// Places between commits, and what commits touched.
@Suite(.enabled { await TestServer.isAvailable })
struct CommitCursorTests {
    @Test func `a cursor survives the round trip through text`() throws {
        for text in [
            "", "0:1:00000000000000ff",
            "0:1:00000000000000ff:2,12:9223372036854775807:89abcdef01234567",
        ] { #expect(CommitCursor(text)?.description == text) }
    }

    @Test(arguments: [
        "0", "0:1", "0:0:0123456789abcdef", "0:01:0123456789abcdef", "0:1:0123456789ABCDEF",
        "0:1:0123456789abcdef:0", "0:1:0123456789abcdef:", "0:1:0123456789abcdef:1:1",
        "0:1:0123456789abcdef:-1", "1024:1:0123456789abcdef", "0:1:0123456789abcdef,",
        "1:1:0123456789abcdef,0:1:0123456789abcdef",
    ])
    func `any other text is not a cursor`(text: String) {
        #expect(CommitCursor(text) == nil)
    }

    @Test(arguments: Variant.extremes)
    func `a commit that only repeats is a step of its own, and its history is cut there`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            for fact in [
                TestFacts.transaction(), TestFacts.transaction(asOf: 3),
                TestFacts.transaction(purchased: 30, asOf: 40),
            ] { _ = try await log.append(verified(fact)) }
            var feed = try await log.commits(after: .beginning)
            let batch = try #require(try await feed.next(statementsMax: 100))
            let found = try await log.foldHistories(touchedBy: batch, into: [TouchedHistory]()) {
                $0.append($1)
            }
            let history = try #require(found.first)
            #expect(found.count == 1 && history.before.events.isEmpty)
            #expect(history.steps.map(\.commit.commit.number) == [1, 2, 3])
            #expect(history.steps.map(\.events.count) == [1, 0, 1])
            let known = history.steps.map { history.known(after: $0.commit) }
            #expect(known.map(\.events.count) == [1, 1, 2])
            #expect(known.map(\.confirmations.count) == [0, 1, 1])
            feed.pass(batch)
            #expect(try await feed.next(statementsMax: 100) == nil)

            // One commit at a time, and from the one in the middle on.
            var cursor = CommitCursor.beginning
            cursor.advance(to: batch.commits[1])
            var rest = try await log.commits(after: cursor)
            #expect(try await rest.next(statementsMax: 1)?.commits == [batch.commits[2]])
            cursor.advance(to: batch.commits[1], taken: 1)
            rest = try await log.commits(after: cursor)
            let partly = try #require(try await rest.next(statementsMax: 1))
            #expect(partly.commits == [batch.commits[1]] && partly.taken == 1)
        }
    }

    @Test(arguments: Variant.extremes)
    func `a log that was truncated and extended refuses the cursor`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let facts = (0..<3).map { TestFacts.transaction(purchased: Int64($0)) }
            for fact in facts { _ = try await log.append(verified(fact)) }
            let end = try await log.endOfCommits()
            var feed = try await log.commits(after: .beginning)
            let batch = try #require(try await feed.next(statementsMax: 100))
            feed.pass(batch)
            try await settings.cut(lane: variant.lanes.lane(of: "1000"), to: 1)
            await #expect { try await log.commits(after: end) } throws: {
                ($0 as? EventLogError)?.code == .cursorBeyondLog
            }
            let other = try await EventLog.open(settings, .test())
            for purchased in 1..<3 {
                let fact = TestFacts.transaction(price: 7, purchased: Int64(purchased))
                _ = try await other.append(verified(fact))
            }
            await other.close()
            await #expect { try await log.commits(after: end) } throws: {
                ($0 as? EventLogError)?.code == .cursorNotOfLog
            }
            await #expect { try await feed.next(statementsMax: 1) } throws: {
                ($0 as? EventLogError)?.code == .cursorNotOfLog
            }
        }
    }
}
