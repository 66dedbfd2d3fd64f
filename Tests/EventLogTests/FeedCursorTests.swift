import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// The text of a cursor, and the logs that refuse it.
@Suite(.enabled { await TestServer.isAvailable })
struct FeedCursorTests {
    @Test func `a cursor survives the round trip through text, with its lanes in ascending order`()
        throws
    {
        var cursor = FeedCursor.beginning
        #expect("\(cursor)" == "")
        for (lane, offset) in [(3, Int64(7)), (0, 1234), (3, .max), (12, 1)] {
            cursor.advance(to: try FeedCursorTests.mark(lane: lane, offset: offset))
            #expect(FeedCursor("\(cursor)") == cursor)
        }
        #expect(cursor.marks.map(\.lane) == [0, 3, 12])
        #expect(cursor[3]?.offset == .max)
        let text = "0:1234:00000000000000ff,12:1:89abcdef01234567"
        #expect(FeedCursor(text)?.description == text)
        let around = try #require(FeedCursor("\(text),20:2:89abcdef01234567")).text(around: 12)
        #expect(around.before == "0:1234:00000000000000ff,")
        #expect(around.after == ",20:2:89abcdef01234567")
        // Safe in a shell and in a URL: digits, letters, `:` and `,`.
        #expect("\(cursor)".allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "," })
    }

    @Test(arguments: [
        "0", "0:1", "0:0:0123456789abcdef", "0:-1:0123456789abcdef", "0:+1:0123456789abcdef",
        "0:01:0123456789abcdef", "0:1:0123456789ABCDEF", "0:1:123456789abcdef",
        "0:1:00123456789abcdef", "0:1:0123456789abcdeg", "1024:1:0123456789abcdef",
        "-1:1:0123456789abcdef", " 0:1:0123456789abcdef", "0:1:0123456789abcdef,",
        "1:1:0123456789abcdef,0:1:0123456789abcdef", "0:9223372036854775808:0123456789abcdef",
        "0:1:0123456789abcdef,0:2:0123456789abcdef", "0:1:0123456789abcdef:",
        String(repeating: "0", count: FeedCursor.byteCountMax + 1),
    ])
    func `any other text is not a cursor`(text: String) {
        #expect(FeedCursor(text) == nil)
    }

    @Test(arguments: Variant.extremes)
    func `the digest reveals a log that was truncated and extended, even inside a commit`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let first = (0..<4).map { TestFacts.transaction(purchased: Int64($0)) }
            _ = try await log.append(verified(TestFacts.transaction(purchased: 50)))
            _ = try await log.append(verified(first))
            let fed = try await log.events(after: .beginning)
            let lane = variant.lanes.lane(of: "1000")
            try await settings.cut(lane: lane, to: 1)
            // As many events at the same offsets, also in one commit, but different ones.
            let other = try await EventLog.open(settings, .test())
            _ = try await other.append(verified(first.map { $0.moved(price: 7) }))
            await other.close()
            for event in fed.dropFirst() {
                let cursor = FeedCursor.beginning.advanced(to: event.mark)
                let error = await #expect(throws: EventLogError.self) {
                    try await log.feed(after: cursor)
                }
                #expect(error?.code == .cursorNotOfLog)
                let message = error?.message ?? ""
                let found = try #require(
                    try await log.newestCommit(lane: lane)
                ).digest.hex.prefix(16)
                for word in [
                    "lane \(lane)", "commit 2", event.mark.digestWord, String(found),
                    "verify --against",
                ] { #expect(message.contains(word), "\(word): \(message)") }
            }
            // The part that both logs share is not a reason to refuse.
            let common = FeedCursor.beginning.advanced(to: try #require(fed.first).mark)
            #expect(try await log.events(after: common).count == 4)
        }
    }

    @Test(arguments: Variant.extremes)
    func `a log restored from an older copy is reported as behind the cursor`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let lane = variant.lanes.lane(of: "1000")
            for day in Int64(0)..<3 {
                _ = try await log.append(verified(TestFacts.transaction(purchased: day)))
            }
            var feed = try await log.feed(after: .beginning)
            while try await feed.nextPage() != nil {}
            let cursor = feed.cursor
            try await settings.cut(lane: lane, to: 2)
            let refused = await #expect(throws: EventLogError.self) {
                try await log.feed(after: cursor)
            }
            #expect(refused?.code == .cursorBeyondLog)
            #expect(refused?.message.contains("event 3 of lane \(lane)") == true)
            #expect(refused?.message.contains("ends at event 2 with commit 2") == true)
            // An open feed reports it as well, each time.
            for _ in 0..<2 {
                let ended = await #expect(throws: EventLogError.self) { try await feed.nextPage() }
                #expect(ended?.code == .cursorBeyondLog)
            }
            try await settings.cut(lane: lane, to: 0)
            let empty = await #expect(throws: EventLogError.self) {
                try await log.feed(after: cursor)
            }
            #expect(empty?.message.contains("is empty") == true)
        }
    }

    /// The log is extended to the same commit number, or further, before the reader looks again.
    @Test(arguments: [1, 2])
    func `a log that is replaced under a reader ends its feed`(further: Int64) async throws {
        try await Variant.plain.withLog { log, settings in
            for day in Int64(0)..<3 {
                _ = try await log.append(verified(TestFacts.transaction(purchased: day)))
            }
            var feed = try await log.feed(after: .beginning)
            while try await feed.nextPage() != nil {}
            try await settings.cut(lane: 0, to: 2)
            let other = try await EventLog.open(settings, .test())
            for day in 10..<(10 + further) {
                _ = try await other.append(verified(TestFacts.transaction(purchased: day)))
            }
            await other.close()
            let error = await #expect(throws: EventLogError.self) { try await feed.nextPage() }
            #expect(error?.code == .cursorNotOfLog)
            #expect(error?.message.contains("commit 3 of lane 0") == true)
        }
    }

    @Test func `a cursor with a lane that the ledger does not have belongs to another log`()
        async throws
    {
        try await Variant.fourLanes.withLog { log, _ in
            let cursor = try #require(FeedCursor("4:1:0123456789abcdef"))
            let error = await #expect(throws: EventLogError.self) {
                try await log.feed(after: cursor)
            }
            #expect(error?.code == .cursorNotOfLog)
            #expect(error?.message.contains("4 lanes") == true)
        }
    }

    private static func mark(lane: Int, offset: Int64) throws -> FeedCursor.Mark {
        try #require(FeedCursor("\(lane):\(offset):0123456789abcdef")?.marks.first)
    }
}

extension FeedCursor {
    fileprivate func advanced(to mark: Mark) -> FeedCursor {
        var cursor = self
        cursor.advance(to: mark)
        return cursor
    }
}

extension Fact {
    fileprivate func moved(price: Int64) -> Fact {
        var content = content
        content[.price] = .integer(price)
        return Fact(
            stream: stream,
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }
}

extension ConnectionSettings {
    /// Removes all commits of a lane after that one, as restoring an older copy does.
    func cut(lane: Int, to commit: Int64) async throws {
        try await meddle(
            """
            DELETE FROM ledger.event WHERE lane = \(lane) AND lane_offset >= (
                SELECT first_offset FROM ledger.commit
                WHERE lane = \(lane) AND commit_no = \(commit) + 1);
            DELETE FROM ledger.commit WHERE lane = \(lane) AND commit_no > \(commit);
            DELETE FROM ledger.evidence WHERE lane = \(lane) AND commit_no > \(commit)
            """
        )
    }
}
