import AppStoreSimulator
import EventLog
import Events
import Foundation
import SimulatedStoreService
import Subledger
@testable import SubledgerAppStore
import Synchronization
import Testing

@Suite struct BackfillTests {
    @Test func `what a restored backup lacks is found, though it had arrived`() async throws {
        try await PolledLedger.run(seed: PollTests.seed) { whole in
            try await whole.receiving { url in
                try await PollTests.store(24) {
                    $0.notificationURL = url
                } _: { store in
                    try await store.waitUntilSent()
                    try await Self.expectCompletion(of: whole, by: store)
                }
            }
        }
    }

    private static func expectCompletion(
        of whole: PolledLedger,
        by store: TestStore
    ) async throws {
        let lives = store.server.lives
        let kept = Instant(milliseconds: store.now.milliseconds - 75 * 86_400_000)
        try await PolledLedger.run(seed: PollTests.seed) { restored in
            try await restored.ingestEverything(of: lives, until: kept)
            // What is never announced the whole ledger does not know either.
            let unannounced = try await whole.differences(from: lives, at: store.now)
            #expect(try await restored.differences(from: lives, at: store.now) != unannounced)
            // Apple reports no failure, so that a round finds no notification.
            let round = try await restored.poll(
                .due(withinMilliseconds: 0),
                store,
                configure: { $0.subscriptionsMax = 0 }
            )
            #expect(round.missedNotifications == 0)
            let report = try await restored.backfill(.since(kept), store)
            #expect(report.isComplete && report.asked.newNotifications > 20)
            #expect(report.asked.missedNotifications >= report.asked.newNotifications)
            // Of the sandbox Apple has thirty days.
            #expect(report.spans.first?.since == kept)
            let wrong = try await restored.differences(from: lives, at: store.now)
            #expect(wrong.count <= unannounced.count, "\(wrong.joined(separator: "\n"))")
            _ = try await whole.backfill(.all, store)
            _ = try await restored.backfill(.all, store)
            let left = try await restored.differences(from: lives, at: store.now)
            #expect(left.isEmpty, "\(left.joined(separator: "\n"))")
            #expect(try await restored.digests() == whole.digests())
        }
    }

    @Test func `an interrupted backfill goes on where it was, and asks nothing twice`()
        async throws
    {
        try await PollTests.store(24) { store in
            try await PolledLedger.run(seed: PollTests.seed) { once in
                _ = try await once.backfill(.all, store)
                let needed = try await store.requests().mapValues { $0["requests"] ?? 0 }
                try await PolledLedger.run(seed: PollTests.seed) { often in
                    // First among the notifications, then among the customers.
                    try await Self.stop(often, store, after: 8)
                    try await Self.stop(often, store, after: 34)
                    let last = try await often.backfill(.all, store)
                    #expect(last.isComplete && last.spans.allSatisfy(\.isResumed))
                    let asked = try await store.requests().mapValues { $0["requests"] ?? 0 }
                    let again = "Production statuses"
                    #expect(asked[again] == 2 * (needed[again] ?? 0))
                    // The span that was being asked for is asked for again, no more.
                    let notifications = "Production notifications"
                    let most = 2 * (needed[notifications] ?? 0) + 20
                    #expect(asked[notifications] ?? 0 <= most)
                    #expect(try await often.digests() == once.digests())
                    let next = try await often.backfill(.all, store)
                    #expect(next.isComplete && !next.spans.contains(where: \.isResumed))
                    #expect(next.asked.appended == 0)
                }
            }
        }
    }

    private static func stop(
        _ polled: PolledLedger,
        _ store: TestStore,
        after steps: Int
    ) async throws {
        let count = Atomic<Int>(0)
        let report = try await polled.withPoller(
            store,
            configure: { ($0.pauseSeconds, $0.concurrency) = (0, 1) }
        ) { poller in
            try await poller.backfill(
                .all,
                isStopped: { count.load(ordering: .relaxed) >= steps },
                progress: { _ in count.add(1, ordering: .relaxed) }
            )
        }
        #expect(!report.isComplete, "it was done before step \(steps)")
    }

    @Test func `two backfills at once share the work`() async throws {
        try await PollTests.store(24) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                try await polled.ingestEverything(of: store.server.lives, until: store.now)
                async let one = polled.backfill(.all, store)
                async let other = polled.backfill(.all, store)
                let reports = try await [one, other]
                #expect(reports.map(\.asked.answered).reduce(0, +) == 24)
                let asked = try await store.requests()
                #expect(asked["Production statuses"]?["requests"] == 24)
                let pages = reports.map(\.asked.missedNotifications)
                #expect(pages.contains(0), "both asked for the same notifications: \(pages)")
            }
        }
    }

    @Test func `the estimate is what a complete ledger takes`() async throws {
        try await PollTests.store(24) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                try await polled.ingestEverything(of: store.server.lives, until: store.now)
                let estimate = try await BackfillEstimate(
                    of: .all,
                    in: polled.ledger,
                    [.production],
                    at: store.now
                )
                _ = try await polled.backfill(.all, store)
                let asked = try await store.requests()
                let part = try #require(estimate.environments.first)
                // A purchase that names no customer counts as one.
                #expect((24...32).contains(part.customers))
                #expect(part.statusRequests == part.customers)
                #expect(asked["Production statuses"]?["requests"] == 24)
                let histories = try #require(asked["Production history"]?["requests"])
                #expect(abs(Int(part.historyRequests) - histories) <= 8)
                let notifications = try #require(asked["Production notifications"]?["requests"])
                #expect(abs(Int(part.notificationRequests) - notifications) <= 20)
                // 25 a second of each endpoint, statuses and histories side by side.
                let expected =
                    Double(part.notificationRequests) / 25
                    + Double(max(part.statusRequests, part.historyRequests)) / 25
                #expect(abs(part.seconds - expected) < 0.001)
            }
        }
    }

    @Test func `a backfill that another one replaced records nothing`() async throws {
        try await PolledLedger.run(seed: PollTests.seed) { polled in
            let log = polled.ledger.log
            let (early, late) = (Instant(milliseconds: 1000), Instant(milliseconds: 2000))
            let replaced = try await log.beginBackfill(
                in: .production,
                since: late,
                isComplete: false
            )
            let running = try await log.beginBackfill(
                in: .production,
                since: early,
                isComplete: false
            )
            #expect(running.since == early && !running.isResumed)
            try await log.record(replaced, reached: Instant(milliseconds: 9000), in: .production)
            try await log.finish(replaced, in: .production)
            #expect(try await log.reached(by: running, in: .production) == early)
            let next = try await log.beginBackfill(
                in: .production,
                since: late,
                isComplete: false
            )
            #expect(next.isResumed && next.since == early)
        }
    }

    @Test func `a backfill names the process that it waits for`() async throws {
        try await PollTests.store(4) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let notifications = StreamID(environment: .production, originalTransactionId: "")
                _ = try await polled.ledger.log.takePollLease(
                    on: notifications,
                    holder: "host 4711",
                    seconds: 2,
                    pause: 0
                )
                let waited = Mutex<[PollHolder]>([])
                let report = try await polled.withPoller(store) { poller in
                    try await poller.backfill(.all, isStopped: { false }) { progress in
                        if case .waiting(let holder) = progress {
                            waited.withLock { $0.append(holder) }
                        }
                    }
                }
                #expect(report.isComplete)
                let holders = Set(waited.withLock { $0 })
                #expect(holders.map(\.holder) == ["host 4711"])
                let ends = try #require(holders.first).expiresAt.milliseconds
                #expect(abs(ends - Instant.systemClock().milliseconds) < 60_000)
            }
        }
    }

    @Test func `the newest notification is found however many events follow it`() async throws {
        try await PollTests.store(4) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let log = polled.ledger.log
                #expect(try await log.newestNotification(in: .production) == nil)
                try await polled.ingestEverything(of: store.server.lives, until: store.now)
                let newest = try #require(try await log.newestNotification(in: .production))
                #expect(newest <= store.now)
                #expect(try await log.newestNotification(in: .production, among: 1) != nil)
                #expect(try await log.newestNotification(in: .sandbox) == nil)
                // Answers are not notifications; they follow the newest notification in the log.
                let ids = store.server.lives.map(\.originalTransactionId)
                _ = try await polled.poll(.ids(ids), store)
                #expect(try await log.newestNotification(in: .production, among: 1) != nil)
            }
        }
    }

    @Test func `of single customers everything is fetched`() async throws {
        try await PollTests.store(8) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let life = store.server.lives[3]
                let report = try await polled.backfill(
                    .ids([life.originalTransactionId, "404"]),
                    store
                )
                // To ask again about what Apple does not know would change nothing.
                #expect(report.isComplete)
                #expect(report.asked.failed == 1 && report.asked.refused == 1)
                #expect(report.asked.answered == 1 && report.asked.newNotifications > 0)
                let wrong = try await polled.differences(from: [life], at: store.now)
                #expect(wrong.isEmpty, "\(wrong)")
            }
        }
    }
}

extension PolledLedger {
    /// A backfill by a poller of its own.
    func backfill(_ scope: BackfillScope, _ store: TestStore) async throws -> BackfillReport {
        try await withPoller(store, configure: { $0.pauseSeconds = 0 }) { poller in
            try await poller.backfill(scope)
        }
    }
}
