import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import SimulatedStoreService
import Subledger
@testable import SubledgerAppStore
import Testing

@Suite struct PollTests {
    @Test func `the most urgent are kept: overdue, ending soon, failed`() {
        func subject(_ id: String, _ reason: PollSubject.Reason, _ end: Int64) -> PollSubject {
            PollSubject(
                stream: StreamID(environment: .production, originalTransactionId: id),
                reason: reason,
                accessEnd: Instant(milliseconds: end),
                periodMilliseconds: nil
            )
        }
        let urgent = UrgentSubjects(countMax: 5)
        for (id, reason, end) in [
            ("f1", PollSubject.Reason.failed, Int64(1)), ("s9", .endsSoon, 9), ("o1", .overdue, 1),
            ("f8", .failed, 8), ("s2", .endsSoon, 2), ("o7", .overdue, 7), ("a", .asked, 0),
        ] {
            for copy in 0..<3 where copy == 0 || id == "a" {
                urgent.add(subject(copy == 0 ? id : "\(id)\(copy)", reason, end))
            }
        }
        let (subjects, left, reasons) = urgent.finish()
        #expect(
            subjects.map(\.stream.originalTransactionId) == ["o7", "o1", "s2", "s9", "f8"]
        )
        #expect(left == 4)
        #expect(reasons == ["failed": 2, "ends_soon": 2, "overdue": 2, "asked": 3])
    }

    static let seed: UInt64 = 19
    // 2026-05-28 20:26:40 UTC
    static let now = Instant(milliseconds: 1_780_000_000_000)
    private static let opened = Instant(milliseconds: now.milliseconds - 90 * 86_400_000)

    /// A store whose months took three days, ninety days after it opened, at a clock that stands.
    static func store(
        _ subscriptions: Int,
        _ configure: (inout SimulatedStoreOptions) -> Void,
        _ body: @escaping @Sendable (TestStore) async throws -> Void
    ) async throws {
        try await TestStore.run(at: now) { options in
            options.seed = seed
            options.subscriptions = subscriptions
            options.monthMilliseconds = 3 * 86_400_000
            options.openedAt = opened
            // The clock stands, so that what was used of a limit never comes back.
            options.rateShare = 1000
            configure(&options)
        } _: { store in
            try await body(store)
        }
    }

    static func store(
        _ subscriptions: Int,
        _ body: @escaping @Sendable (TestStore) async throws -> Void
    ) async throws {
        try await store(subscriptions, { _ in }, body)
    }

    @Test func `after lost notifications one round knows the whole truth`() async throws {
        try await PolledLedger.run(seed: Self.seed) { lossy in
            try await lossy.receiving { url in
                try await Self.store(36) {
                    $0.notificationURL = url
                    ($0.lost, $0.repeated, $0.delayed) = (0.3, 0.2, 0.2)
                } _: { store in
                    try await store.waitUntilSent()
                    let lives = store.server.lives
                    #expect(
                        try await !lossy.differences(from: lives, at: Self.now).isEmpty,
                        "nothing of what was lost mattered"
                    )
                    let report = try await lossy.poll(.all, store)
                    #expect(report.missedNotifications > 50)
                    #expect(report.failed == 0 && report.left == 0 && report.rejected == 0)
                    let wrong = try await lossy.differences(from: lives, at: Self.now)
                    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
                    let digests = try await lossy.digests()
                    try await PolledLedger.run(seed: Self.seed) { complete in
                        try await complete.ingestEverything(of: lives, until: Self.now)
                        _ = try await complete.poll(.all, store)
                        #expect(try await complete.digests() == digests)
                    }
                }
            }
        }
    }

    @Test func `an answer whose bytes are known costs nothing`() async throws {
        try await Self.store(8) { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                let ids = store.server.lives.map(\.originalTransactionId)
                let first = try await polled.poll(.ids(ids), store)
                #expect(first.answered == 8 && first.withNews == 8 && first.appended > 8)
                let counts = try await polled.rowCounts()
                let second = try await polled.poll(.ids(ids), store)
                #expect(second.answered == 8 && second.withNews == 0 && second.appended == 0)
                #expect(try await polled.rowCounts() == counts)
            }
        }
    }

    @Test func `a history is asked for once, and later only what changed`() async throws {
        try await Self.store(8) { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                try await polled.ingestEverything(of: store.server.lives, until: Self.now)
                let first = try await polled.poll(.all, store, pauseSeconds: 0)
                let again = try await polled.poll(.all, store, pauseSeconds: 0)
                #expect(again.answered == first.answered, "\(first) then \(again)")
                #expect(again.appended == 0)
                // One status each, and nothing of any history.
                #expect(again.statements - again.missedNotifications == again.answered)
                #expect(first.statements - first.missedNotifications > first.answered)
            }
        }
    }

    @Test func `whom a round asked about is not selected again in it, however short the pause`()
        async throws
    {
        try await Self.store(8) { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                try await polled.ingestEverything(of: store.server.lives, until: Self.now)
                func select(after earlier: AskableCustomers?) async throws -> AskableCustomers {
                    try await polled.ledger.log.customersToAsk(
                        in: .production,
                        subscribers: false,
                        pause: 0,
                        after: earlier,
                        limit: 100
                    )
                }
                let earlier = try await select(after: nil)
                _ = try await polled.poll(.all, store, pauseSeconds: 0)
                let again = try await select(after: nil)
                #expect(!again.streams.isEmpty && again.recent == 0)
                let rest = try await select(after: earlier)
                #expect(rest.streams.isEmpty && rest.recent == again.streams.count)
            }
        }
    }

    @Test func `several pollers share the work and ask nothing twice`() async throws {
        try await Self.store(12) { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                try await polled.ingestEverything(of: store.server.lives, until: Self.now)
                async let one = polled.poll(.all, store)
                async let other = polled.poll(.all, store)
                async let third = polled.poll(.all, store)
                let reports = try await [one, other, third]
                let answered = reports.map(\.answered).reduce(0, +)
                let skipped = reports.map(\.skipped).reduce(0, +)
                let asked = try await store.requests()
                #expect(answered >= 12 && skipped == 2 * answered)
                #expect(asked["Production statuses"]?["requests"] == answered)
                let later = try await polled.poll(.all, store)
                #expect(later.answered == 0 && later.skipped == answered)
            }
        }
    }

    @Test func `a lease that would not expire within an hour holds nothing`() async throws {
        try await PolledLedger.run(seed: Self.seed) { polled in
            let log = polled.ledger.log
            let stream = StreamID(environment: .production, originalTransactionId: "1")
            _ = try await log.takePollLease(on: stream, holder: "a", seconds: 9999, pause: 0)
            #expect(try await log.subscriptionsHolder(in: .production)?.holder == "a")
            let session = try await PostgresSession.connect(log.settings)
            try await session.execute(
                "UPDATE operation.poll SET expires_at = 'infinity', answered_at = 'infinity'"
            )
            await session.close()
            #expect(try await log.subscriptionsHolder(in: .production) == nil)
            #expect(try await log.pollAnswers(about: [stream]).isEmpty)
            let lease = try await log.takePollLease(on: stream, holder: "b", seconds: 60, pause: 60)
            #expect(lease != nil)
        }
    }

    @Test func `a lease that nobody gives back ends by itself`() async throws {
        try await PolledLedger.run(seed: Self.seed) { polled in
            let log = polled.ledger.log
            let stream = StreamID(environment: .production, originalTransactionId: "1")
            let first = try #require(
                try await log.takePollLease(on: stream, holder: "a", seconds: 600, pause: 60)
            )
            #expect(first.continuation == nil)
            let taken = try await log.takePollLease(on: stream, holder: "b", seconds: 60, pause: 0)
            #expect(taken == nil)
            let session = try await PostgresSession.connect(log.settings)
            try await session.execute(
                "UPDATE operation.poll SET expires_at = clock_timestamp() - interval '1 second'"
            )
            await session.close()
            let lease = try #require(
                try await log.takePollLease(on: stream, holder: "b", seconds: 60, pause: 60)
            )
            // The first one comes back too late to say anything.
            try await log.end(first, holder: "a", continuation: "old", isAnswered: true)
            try await log.end(lease, holder: "b", continuation: "new", isAnswered: true)
            #expect(
                try await log.takePollLease(on: stream, holder: "c", seconds: 1, pause: 60) == nil
            )
            let next = try await log.takePollLease(on: stream, holder: "c", seconds: 1, pause: 0)
            #expect(next?.continuation == "new")
        }
    }

    @Test func `what is due is asked about, and the most urgent first`() async throws {
        try await Self.store(36) { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                // Nothing of the last ten days arrived.
                let silent = Instant(milliseconds: Self.now.milliseconds - 10 * 86_400_000)
                try await polled.ingestEverything(of: store.server.lives, until: silent)
                let report = try await polled.poll(.due(withinMilliseconds: 86_400_000), store)
                #expect(report.missedNotifications > 0)
                #expect(report.answered > 0 && report.failed == 0)
                #expect(Set(report.reasons.keys).isSubset(of: ["ends_soon", "failed", "overdue"]))
                #expect(report.answered == report.reasons.values.reduce(0, +))
                #expect(report.answered < 36)
            }
        }
    }

    @Test func `a rate below the need slows a round down and breaks nothing`() async throws {
        let now = Instant.systemClock()
        try await TestStore.run(at: now, ticks: true) {
            ($0.seed, $0.subscriptions, $0.rateShare) = (Self.seed, 12, 0.1)
        } _: { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                var limits = ServerLimits.brisk
                (limits.rateShare, limits.rateLimitSecondsMax) = (1, 30)
                let ids = store.server.lives.map(\.originalTransactionId)
                let report = try await polled.poll(
                    .ids(ids),
                    store,
                    limits,
                    clock: { .systemClock() }
                )
                #expect(report.answered == 12 && report.failed == 0 && report.left == 0)
            }
        }
    }

    @Test func `a rate limit that does not end ends the round, and names when to go on`()
        async throws
    {
        try await Self.store(30) {
            $0.rateShare = 0.1
        } _: { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                var limits = ServerLimits.brisk
                limits.rateLimitSecondsMax = 0.5
                let ids = store.server.lives.map(\.originalTransactionId)
                let report = try await polled.poll(.ids(ids), store, limits)
                #expect(report.left > 0 && report.failed == 0)
                #expect((1...5).contains(report.answered) && report.answered + report.left == 30)
                #expect(report.retryAt != nil)
            }
        }
    }

    @Test func `a sweep of missed notifications that ended early goes on where it was`()
        async throws
    {
        try await Self.store(24) {
            $0.rateShare = 0.3
        } _: { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                var limits = ServerLimits.brisk
                limits.rateLimitSecondsMax = 0.5
                let first = try await polled.poll(.all, store, limits, pauseSeconds: 0)
                #expect(first.missedNotifications > 0 && first.retryAt != nil)
                let log = polled.ledger.log
                let lease = try #require(
                    try await log.takePollLease(
                        on: StreamID(environment: .production, originalTransactionId: ""),
                        holder: "test",
                        seconds: 60,
                        pause: 0
                    )
                )
                let reached = try #require(lease.continuation.flatMap { Int64($0) })
                #expect(reached < Self.now.milliseconds)
                #expect(reached > Self.now.milliseconds - 180 * 86_400_000)
                // The lease is held: another poller leaves the notifications alone.
                let other = try await polled.poll(.all, store, limits, pauseSeconds: 0)
                #expect(other.missedNotifications == 0)
            }
        }
    }

    @Test func `an id that Apple does not know is reported and stops nobody`() async throws {
        try await Self.store(2) { store in
            try await PolledLedger.run(seed: Self.seed) { polled in
                let known = store.server.lives[1].originalTransactionId
                let report = try await polled.poll(.ids(["404", known]), store)
                #expect(report.answered == 1 && report.failed == 1)
                #expect(report.failures.first?.originalTransactionId == "404")
                #expect(report.failures.first?.reason == "refused")
            }
        }
    }

    @Test func `answers under a foreign root are refused and kept`() async throws {
        try await Self.store(3) { store in
            try await PolledLedger.run(seed: Self.seed + 1) { polled in
                let ids = store.server.lives.map(\.originalTransactionId)
                let report = try await polled.poll(.ids(ids), store)
                #expect(report.rejected >= 6 && report.appended == 0)
                let counts = try await polled.rowCounts()
                #expect(counts[0] == 0 && counts[4] >= 6)
            }
        }
    }
}
