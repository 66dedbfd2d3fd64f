import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Synchronization
import TestSupport
import Testing

@testable import Subledger

/// Effects read from a log: in order, from any cursor, by named consumers, through outages.
@Suite(.enabled { await TestServer.isAvailable })
struct EffectTests {
    @Test func `a life told notification by notification has the effects of its steps`()
        async throws
    {
        let (plus, pro) = (SimulatedCatalog.lumen[2], SimulatedCatalog.lumen[0])
        let steps: [LifeStep] = try [
            .subscribe(plus, offer: nil, at: Self.at("2026-01-05")),
            .turnAutoRenewOff(at: Self.at("2026-01-10")),
            .turnAutoRenewOn(at: Self.at("2026-01-12")),
            .renew(at: Self.at("2026-02-05")),
            .changeNow(to: pro, offer: nil, at: Self.at("2026-02-10")),
            .refund(purchase: 2, percentage: nil, at: Self.at("2026-02-15")),
            .reverseRefund(purchase: 2, at: Self.at("2026-02-20")),
            .extend(days: 5, at: Self.at("2026-02-25")),
            .turnAutoRenewOff(at: Self.at("2026-03-01")),
            .expire(.voluntary, at: Self.at("2026-03-15")),
        ]
        let life = try SubscriptionLife(
            identity: LifeIdentity(seed: 15, index: 1, storefront: SimulatedStorefront.all[0]),
            store: FilledLedger.simulator.store,
            script: steps
        )
        try await FollowTests.withLedger(lanes: 1) { ledger, _ in
            for delivery in life.notifications() { try await ledger.ingest([delivery]) }
            let effects = try await Self.all(of: ledger)
            let told = effects.map { effect -> String in
                let name = effect.kind.rawValue + (effect.change.isCorrection ? "!" : "")
                guard case .access(_, let after?) = effect.change.subject else { return name }
                return name + " \(after.until?.clock.prefix(10) ?? "ever")"
            }
            #expect(
                told == [
                    "purchased", "access_began 2026-02-05", "renewal_turned_off",
                    "renewal_turned_on", "renewed", "access_extended 2026-03-05", "renewed",
                    "plan_changed", "access_extended 2026-03-10", "refunded",
                    "renewal_turned_off", "access_ended 2026-02-15", "refund_reversed",
                    "renewal_turned_on", "access_began 2026-03-10",
                    // The end of their period is another one now.
                    "renewed!", "refunded!", "renewal_turned_off!", "refund_reversed!",
                    "renewal_turned_on!", "period_extended", "access_extended 2026-03-15",
                    "renewal_turned_off", "expired", "access_ended 2026-03-15",
                ]
            )
            #expect(effects.allSatisfy { $0.stream == life.stream && !$0.cause.isEmpty })
            #expect(effects.allSatisfy { $0.bundleId == "example.subledger" })
            #expect(effects.map(\.position) == effects.map(\.position).sorted())
        }
    }

    @Test(arguments: [1, 4])
    func `from any cursor on come exactly the effects after it, and they lead to the answers`(
        lanes: Int
    ) async throws {
        var random = TestSupport.SeededGenerator(seed: UInt64(lanes))
        try await FollowTests.withLedger(lanes: lanes) { ledger, _ in
            for batch in FollowTests.deliveries(seed: 3).batches(using: &random) {
                try await ledger.ingest(batch)
            }
            let effects = try await Self.all(of: ledger)
            #expect(effects.count > 100)
            let texts = effects.map(Self.text)
            for _ in 0..<25 {
                let index = Int.random(in: effects.indices, using: &random)
                let cursor = try #require(CommitCursor("\(effects[index].cursor)"))
                let rest = try await Self.all(of: ledger, after: cursor)
                #expect(rest.map(Self.text).sorted() == texts[(index + 1)...].sorted())
                if lanes == 1 { #expect(rest.map(Self.text) == Array(texts[(index + 1)...])) }
            }
            #expect(try await Self.all(of: ledger, after: ledger.endOfEffects()).isEmpty)

            var open: Set<StreamID> = []
            for effect in effects {
                guard case .access(let before, let after) = effect.change.subject,
                    (after ?? before)?.isOneTime == false
                else { continue }
                if effect.kind == .accessBegan { open.insert(effect.stream) }
                if effect.kind == .accessEnded { open.remove(effect.stream) }
            }
            for stream in try await ledger.allStreams() {
                let rows = try await ledger.periods(of: stream).rows
                let isOpen = rows.contains { $0.endReason == .open && $0.validFrom < $0.validTo }
                #expect(open.contains(stream) == isOpen, "\(stream)")
            }
        }
    }

    @Test func `a new name with a place that the log does not have can begin again`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, _ in
            try await ledger.ingest(FollowTests.deliveries(seed: 5))
            let place = try #require(CommitCursor("0:999999:0000000000000000"))
            var wrong = ledger.effects(of: "mailer", startingAt: place, isFollowing: false)
                .makeAsyncIterator()
            let error = await #expect(throws: EventLogError.self) { try await wrong.next() }
            #expect(error?.code == .cursorBeyondLog)
            var right = ledger.effects(of: "mailer", isFollowing: false).makeAsyncIterator()
            #expect(try await right.next() != nil)
        }
    }

    @Test func `a named consumer continues after what it acknowledged, one process at a time`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, _ in
            try await ledger.ingest(FollowTests.deliveries(seed: 5))
            let all = try await Self.all(of: ledger).map(Self.text)
            let first = ledger.effects(of: "mailer", isFollowing: false)
            var iterator = first.makeAsyncIterator()
            var last: SubscriptionEffect?
            for _ in 0..<7 { last = try await iterator.next() }
            let seventh = try #require(last)
            try await first.acknowledge(seventh)
            _ = try await iterator.next()

            var other = ledger.effects(of: "mailer", isFollowing: false).makeAsyncIterator()
            let error = await #expect(throws: EventLogError.self) { try await other.next() }
            #expect(error?.code == .consumerInUse)
            #expect(error?.isRetryable == true)
            // Another name is another reader.
            var named = ledger.effects(of: "other", isFollowing: false).makeAsyncIterator()
            #expect(try await named.next().map(Self.text) == all[0])
            while try await named.next() != nil {}

            // The name is given back at the end, and the eighth effect was not acknowledged.
            while try await iterator.next() != nil {}
            let second = ledger.effects(of: "mailer", isFollowing: false)
            var rest: [String] = []
            for try await effect in second { rest.append(Self.text(effect)) }
            #expect(rest == Array(all[7...]))
            let late = await #expect(throws: EventLogError.self) {
                try await first.acknowledge(seventh)
            }
            #expect(late?.code == .consumerInUse)
        }
    }

    @Test func `a new consumer may begin at the end of the log`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, _ in
            let deliveries = FollowTests.deliveries(seed: 5)
            try await ledger.ingest(Array(deliveries.prefix(30)))
            let known = try await Self.all(of: ledger).count
            for _ in 0..<2 {
                let end = try await ledger.endOfEffects()
                for try await effect in ledger.effects(
                    of: "late",
                    startingAt: end,
                    isFollowing: false
                ) { Issue.record("\(effect.line)") }
                // It is not new any more: the next end is not its beginning.
                try await ledger.ingest(deliveries)
                let effects = ledger.effects(of: "late", startingAt: end, isFollowing: false)
                var count = 0
                for try await effect in effects {
                    count += 1
                    try await effects.acknowledge(effect)
                }
                let total = try await Self.all(of: ledger).count
                #expect(count == total - known || count == 0)
            }
        }
    }

    @Test func `a follower hears of a commit`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, _ in
            let session = try await ledger.log.followerSession(of: nil)
            async let heard = session.waitForCommit(atMost: .seconds(600))
            try await ledger.ingest(FollowTests.deliveries(seed: 5))
            #expect(try await heard)
            await session.close()
        }
    }

    @Test func `a follower whose connections are killed misses nothing and repeats nothing`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 4) { ledger, settings in
            let reader = try await FilledLedger.open(settings)
            let read = Mutex<[String]>([])
            let losses = Atomic<Int>(0)
            let following = Task {
                for try await effect in reader.effects(
                    onLoss: { _ in losses.add(1, ordering: .relaxed) }
                ) { read.withLock { $0.append(Self.text(effect)) } }
            }
            let admin = try await PostgresSession.connect(settings)
            for batch in FollowTests.deliveries(seed: 6).chunked(12) {
                try await ledger.ingest(batch)
                _ = try await admin.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """
                )
            }
            let expected = try await Self.all(of: ledger).map(Self.text)
            try await eventually("everything was read") {
                read.withLock { $0.count } >= expected.count
            }
            following.cancel()
            try await following.value
            #expect(read.withLock { $0 }.sorted() == expected.sorted())
            #expect(losses.load(ordering: .relaxed) > 0)
            await admin.close()
            await reader.log.close()
        }
    }

    @Test func `links are effects, and an erasure is one that says so`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, _ in
            let stream = try #require(try await ledger.allStreams().first)
            let start = try await ledger.endOfEffects()
            _ = try await ledger.add(
                CustomerLink(
                    stream: stream,
                    customer: "anna",
                    statedBy: "test",
                    reason: "",
                    statedAt: Instant(milliseconds: 0)
                ),
                receivedAt: .systemClock()
            )
            let linked = try await Self.all(of: ledger, after: start)
            #expect(linked.map(\.kind) == [.linked])
            #expect(linked.first?.customer == "anna")
            let targets = try await ledger.erasureTargets(ofCustomer: "anna")
            _ = try await ledger.erase(targets, reason: ErasureTests.reason, withSiblings: true)
            let erased = try await Self.all(of: ledger, after: linked[0].cursor)
            #expect(erased.contains { $0.kind == .erased && $0.stream == stream })
            #expect(erased.allSatisfy { $0.kind == .erased && $0.customer == nil })
            // Who reads from the beginning finds no trace of what was erased.
            let all = try await Self.all(of: ledger)
            #expect(!all.contains { Self.text($0).contains("anna") })
        }
    }

    @Test func `an ingestion names its new facts`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, _ in
            let payload = try #require(FollowTests.deliveries(seed: 5).first).payload
            let first = try await ledger.ingest(payload, source: "test")
            #expect(!first.new.isEmpty && first.new.count == first.outcomes.count(where: \.isNew))
            #expect(try await ledger.ingest(payload, source: "test").new.isEmpty)
        }
    }

    private static func all(
        of ledger: Ledger,
        after cursor: CommitCursor = .beginning
    ) async throws -> [SubscriptionEffect] {
        var effects: [SubscriptionEffect] = []
        for try await effect in ledger.effects(after: cursor, isFollowing: false) {
            effects.append(effect)
        }
        return effects
    }

    /// An effect without its cursor, which names the places of all lanes.
    private static func text(_ effect: SubscriptionEffect) -> String {
        "\(effect.stream) \(effect.line) \(effect.cause)"
    }

    private static func at(_ day: String) throws -> Instant {
        try #require(Instant("\(day)T00:00:00Z"))
    }
}
