import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// Reading the log from a cursor on.
@Suite(.enabled { await TestServer.isAvailable })
struct FeedTests {
    @Test(arguments: Variant.all)
    func `the feed is the log, lane by lane in offset order, without gaps`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            try await FeedTests.fill(log)
            let fed = try await log.events(after: .beginning)
            let stored = try await Inspector.inspect(settings) { inspector in
                try await inspector.texts(
                    """
                    SELECT lane || ':' || lane_offset || ' ' || evidence_no
                    FROM ledger.event ORDER BY lane, lane_offset
                    """
                )
            }
            // A stable sort would keep the events of one lane in order of arrival.
            let byLane = Dictionary(grouping: fed, by: \.event.position.lane.number)
            let told = byLane.sorted { $0.key < $1.key }.flatMap(\.value).map { fed in
                "\(fed.event.position.lane.number):\(fed.event.position.offset) \(fed.event.evidence)"
            }
            #expect(told == stored)
            #expect(fed.count > 2 * FeedPage.eventsMax)
            #expect(fed.allSatisfy { $0.evidence?.trust == "signed" })
        }
    }

    @Test(arguments: Variant.all)
    func `from any event's cursor the rest follows, nothing twice and nothing left out`(
        variant: Variant
    ) async throws {
        let seed: UInt64 = 20_261_122
        var random = SeededGenerator(seed: seed)
        try await variant.withLog { log, _ in
            try await FeedTests.fill(log)
            var cursors: [FeedCursor] = []
            var all: [Position] = []
            var feed = try await log.feed(after: .beginning)
            while let page = try await feed.nextPage() {
                var cursor = page.before
                for fed in page.events {
                    cursor.advance(to: fed.mark)
                    all.append(fed.event.position)
                    cursors.append(try #require(FeedCursor("\(cursor)")))
                }
                #expect(cursor == feed.cursor)
            }
            for index in (0..<12).map({ _ in Int.random(in: cursors.indices, using: &random) }) {
                let rest = try await log.events(after: cursors[index]).map(\.event.position)
                // The lanes' turns start again, so with several lanes only the set is the same.
                let expected = Array(all[(index + 1)...])
                #expect(
                    variant.lanes == .one ? rest == expected : rest.sorted() == expected.sorted(),
                    "seed \(seed), after \(cursors[index])"
                )
            }
        }
    }

    @Test(arguments: Variant.extremes)
    func `lanes take turns of one page each`(variant: Variant) async throws {
        try await variant.withLog { log, _ in
            for lane in 0..<variant.lanes.value {
                let id = variant.ids(inLane: lane, count: 1)[0]
                let facts = (0..<Int64(2 * FeedPage.eventsMax + 1)).map {
                    TestFacts.transaction(id, purchased: $0)
                }
                _ = try await log.append(verified(facts))
            }
            var turns: [Int] = []
            var feed = try await log.feed(after: .beginning)
            while let page = try await feed.nextPage() {
                #expect(page.events.count <= FeedPage.eventsMax)
                turns.append(page.lane)
            }
            let lanes = Array(0..<variant.lanes.value)
            #expect(turns == lanes + lanes + lanes)
        }
    }

    @Test(arguments: Variant.extremes)
    func `a confirmation is not an event, moves no cursor and is read once`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            _ = try await log.append(verified(TestFacts.transaction(asOf: 1)))
            var feed = try await log.feed(after: .beginning)
            #expect(try await feed.nextPage()?.events.count == 1)
            let cursor = feed.cursor
            for asOf in Int64(2)..<5 {
                _ = try await log.append(verified(TestFacts.transaction(asOf: asOf)))
            }
            #expect(try await Inspector.count("commit", settings) == 4)
            let confirmed = try #require(try await feed.nextPage())
            #expect(confirmed.events.isEmpty)
            #expect(
                confirmed.confirmations.map(\.confirmation.asOf)
                    == (2..<5).map { TestFacts.transaction(asOf: $0).asOf }
            )
            #expect(confirmed.confirmations.allSatisfy { $0.confirmation.position.offset == 1 })
            #expect(confirmed.confirmations.allSatisfy { $0.lastOffset == 1 })
            #expect(try await feed.nextPage() == nil)
            #expect(feed.cursor == cursor)
            let lane = variant.lanes.lane(of: "1000")
            #expect(feed.commitLookedAt(inLane: lane) == 4)
            // The cursor is still valid, and later events are found.
            #expect(try await log.events(after: cursor).isEmpty)
            _ = try await log.append(verified(TestFacts.transaction(purchased: 40, asOf: 5)))
            let page = try await feed.nextPage()
            #expect(page?.events.map(\.event.position.offset) == [2])
            #expect(page?.confirmations.isEmpty == true)
            // Who starts again at the cursor gets the confirmations after it again.
            var again = try await log.feed(after: cursor)
            #expect(try await again.nextPage()?.confirmations.count == 3)
            #expect(try await log.events(after: cursor).map(\.event.position.offset) == [2])
            #expect(try await feed.nextPage() == nil)
        }
    }

    @Test(arguments: Variant.extremes)
    func `a reader that starts again gets the confirmations of its last commit again`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            // One commit brings an event and its confirmation.
            let facts = [Int64(1), 2].map { TestFacts.transaction(asOf: $0) }
            _ = try await log.append(verified(facts))
            var feed = try await log.feed(after: .beginning)
            let page = try #require(try await feed.nextPage())
            #expect(page.events.count == 1 && page.confirmations.count == 1)
            let kinds = page.lines().map { if case .event = $0 { "event" } else { "confirmation" } }
            #expect(kinds == ["event", "confirmation"])
            #expect(page.lines(eventsMax: 1).count == 1)

            // It may have been killed between the two lines.
            var again = try await log.feed(after: feed.cursor)
            let rest = try #require(try await again.nextPage())
            #expect(rest.events.isEmpty && rest.confirmations.count == 1)
            #expect(try await again.nextPage() == nil)
        }
    }

    @Test(arguments: Variant.extremes)
    func `an event that cannot be read ends the feed in the turn of its lane`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            for lane in 0..<variant.lanes.value {
                let id = variant.ids(inLane: lane, count: 1)[0]
                _ = try await log.append(verified(TestFacts.transaction(id)))
            }
            let last = variant.lanes.value - 1
            try await settings.meddle("UPDATE ledger.event SET content = '' WHERE lane = \(last)")
            var (turns, feed) = ([Int](), try await log.feed(after: .beginning))
            for _ in 0..<last { turns += [try await feed.nextPage()?.lane ?? -1] }
            #expect(turns == Array(0..<last))
            // It stays there, and reads again.
            for _ in 0..<2 {
                let error = await #expect(throws: EventLogError.self) { try await feed.nextPage() }
                #expect(error?.code == .malformedLog)
            }
        }
    }

    /// The reader reads while four writers append: it must not see a later offset before an earlier
    /// one.
    @Test(arguments: Variant.extremes)
    func `a feed read during many writes returns every event once`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let reader = try await EventLog.open(settings, .test())
            let payloads = (0..<400).map { number in
                verified(TestFacts.transaction("\(number % 9)", purchased: Int64(number)))
            }
            async let appended = appendAll(payloads, to: [log])
            var positions: [Position] = []
            var cursor = FeedCursor.beginning
            while positions.count < payloads.count {
                // From the cursor again each time, as after a crash.
                let fed = try await reader.events(after: cursor)
                for event in fed { cursor.advance(to: event.mark) }
                positions += fed.map(\.event.position)
            }
            let expected = try await appended.map(\.position)
            #expect(positions.sorted() == expected.sorted())
            for lane in 0..<variant.lanes.value {
                let offsets = positions.filter { $0.lane.number == lane }.map(\.offset)
                #expect(offsets == offsets.sorted())
            }
            await reader.close()
        }
    }

    @Test func `a missing event ends the feed with an error that names it`() async throws {
        try await Variant.plain.withLog { log, settings in
            try await FeedTests.fill(log)
            try await settings.meddle("DELETE FROM ledger.event WHERE lane_offset = 7")
            let error = await #expect(throws: EventLogError.self) {
                try await log.events(after: .beginning)
            }
            #expect(error?.code == .malformedLog)
            #expect(error?.message.contains("event 0:7 is missing") == true)
        }
    }

    /// Events of several streams: single ones, several per payload, more than a page in one commit,
    /// and repetitions between them.
    static func fill(_ log: EventLog) async throws {
        for number in Int64(0)..<30 {
            let id = "\(number % 7)"
            let facts = (0...number % 4).map {
                TestFacts.transaction(id, purchased: number * 10 + $0, asOf: number)
            }
            _ = try await log.append(verified(facts))
            _ = try await log.append(
                verified(TestFacts.transaction(id, purchased: number * 10, asOf: number + 50))
            )
        }
        let many = (0..<Int64(2 * FeedPage.eventsMax + 100)).map {
            TestFacts.transaction("1000", purchased: $0, asOf: 1)
        }
        _ = try await log.append(verified(many))
        _ = try await log.append(verified(TestFacts.transaction("1000", asOf: 9)))
        _ = try await log.append(verified(TestFacts.notification(uuid: "last", asOf: 9)))
    }
}

extension EventLog {
    /// All events of the feed after a cursor.
    func events(after cursor: FeedCursor) async throws -> [FedEvent] {
        var feed = try await feed(after: cursor)
        var events: [FedEvent] = []
        while let page = try await feed.nextPage() { events += page.events }
        return events
    }
}
