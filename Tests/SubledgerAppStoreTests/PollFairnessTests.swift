import AppStoreSimulator
import EventLog
import Events
import Foundation
import SimulatedStoreService
import Subledger
@testable import SubledgerAppStore
import Synchronization
import Testing

/// Who is asked about when not everybody can be, and how often.
@Suite struct PollFairnessTests {
    @Test func `of one urgency those come first that were never answered, then the longest ago`() {
        func subject(_ id: String, _ reason: PollSubject.Reason, _ end: Int64) -> PollSubject {
            PollSubject(
                stream: StreamID(environment: .production, originalTransactionId: id),
                reason: reason,
                accessEnd: Instant(milliseconds: end),
                periodMilliseconds: nil
            )
        }
        let subjects = [
            subject("a", .overdue, 9), subject("b", .overdue, 8), subject("c", .overdue, 7),
            subject("d", .overdue, 6), subject("e", .failed, 9),
        ]
        let answered = [
            subjects[0].stream: Instant(milliseconds: 50),
            subjects[1].stream: Instant(milliseconds: 40),
        ]
        #expect(
            subjects.inTurn(answered).map(\.stream.originalTransactionId)
                == ["c", "d", "b", "a", "e"]
        )
    }

    @Test func `rounds that are too small for all reach everybody in turn`() async throws {
        try await PollTests.store(12) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                try await polled.ingestEverything(of: store.server.lives, until: store.now)
                for round in 1...3 {
                    let report = try await polled.poll(
                        .all,
                        store,
                        pauseSeconds: 0,
                        configure: { ($0.subscriptionsMax, $0.environments) = (4, [.production]) }
                    )
                    #expect(report.answered == 4)
                    #expect(report.left == 8, "round \(round)")
                }
                let asked = try await store.requests()
                #expect(asked["Production statuses"]?["requests"] == 12)
                let ids = Set(store.server.lives.map(\.originalTransactionId))
                #expect(try await polled.answered().isSuperset(of: ids))
            }
        }
    }

    @Test func `due rounds that are too small reach all that are due`() async throws {
        try await PollTests.store(36) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let silent = Instant(milliseconds: store.now.milliseconds - 10 * 86_400_000)
                try await polled.ingestEverything(of: store.server.lives, until: silent)
                func ask() async throws -> PollReport {
                    // Without the notifications, which would make them less.
                    try await polled.withPoller(
                        store,
                        configure: { ($0.pauseSeconds, $0.subscriptionsMax) = (0, 3) }
                    ) { poller in
                        var report = PollReport()
                        let due = try await poller.due(within: 86_400_000, &report)
                        let watch = PollWatch(isStopped: { false }, progress: { _ in })
                        try await poller.ask(due, pauseSeconds: 0, &report, watch)
                        return report
                    }
                }
                let first = try await ask()
                #expect(first.answered == 3 && first.left > 3)
                let before = try await polled.answered()
                let second = try await ask()
                #expect(second.answered == 3)
                let new = try await polled.answered().subtracting(before)
                #expect(new.count >= 3, "the same ones were asked about again")
            }
        }
    }

    @Test func `a customer of one-time purchases is asked about once`() async throws {
        try await PollTests.store(36) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                try await polled.ingestEverything(of: store.server.lives, until: store.now)
                _ = try await polled.poll(.all, store)
                let streams = Mutex(0)
                try await polled.ledger.forEachStream { _ in streams.withLock { $0 += 1 } }
                let count = streams.withLock { $0 }
                #expect(count > 36, "no customer has a purchase besides the subscription")
                let asked = try await store.requests()
                #expect(asked["Production statuses"]?["requests"] == 36)
                // All of them are answered, and not only those that were named.
                #expect(try await polled.answered().count == count)
            }
        }
    }

    @Test func `more missed notifications than a question may answer are found by halves`()
        async throws
    {
        try await PollTests.store(24) { store in
            try await PolledLedger.run(seed: PollTests.seed) { whole in
                let expected = try await whole.poll(.all, store)
                try await PolledLedger.run(seed: PollTests.seed) { halved in
                    var limits = ServerLimits.brisk
                    limits.pagesMax = 1
                    let report = try await halved.poll(.all, store, limits)
                    #expect(!report.failures.contains { $0.originalTransactionId == nil })
                    #expect(report.newNotifications == expected.newNotifications)
                    #expect(expected.newNotifications > 200)
                    #expect(report.requests > expected.requests)
                }
            }
        }
    }

    @Test func `a round is ended between two pages of notifications`() async throws {
        try await PollTests.store(24) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let pages = Atomic<Int>(0)
                let report = try await polled.withPoller(store) { poller in
                    try await poller.poll(.all, isStopped: { pages.load(ordering: .relaxed) >= 2 })
                    {
                        if case .notifications = $0 { pages.add(1, ordering: .relaxed) }
                    }
                }
                #expect(report.requests == 2 && report.answered == 0 && report.failed == 0)
                // The lease was given back, and nothing counts as answered.
                let next = try await polled.poll(.all, store)
                #expect(next.newNotifications > 0 && next.failed == 0)
            }
        }
    }

    @Test func `a rate limit that ends a round leaves the least urgent`() async throws {
        try await PollTests.store(36) {
            $0.rateShare = 0.1
        } _: { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let silent = Instant(milliseconds: store.now.milliseconds - 10 * 86_400_000)
                try await polled.ingestEverything(of: store.server.lives, until: silent)
                var limits = ServerLimits.brisk
                (limits.rateLimitSecondsMax, limits.attemptsMax) = (0.2, 1)
                let (due, report) = try await polled.withPoller(
                    store,
                    limits,
                    configure: { $0.concurrency = 1 }
                ) { poller in
                    var report = PollReport()
                    let due = try await poller.due(within: 86_400_000, &report)
                    let watch = PollWatch(isStopped: { false }, progress: { _ in })
                    try await poller.ask(due, pauseSeconds: 0, &report, watch)
                    return (due, report)
                }
                #expect(report.answered > 0 && report.left > 0 && report.retryAt != nil)
                #expect(report.answered + report.left == due.count)
                let first = Set(due.prefix(report.answered).map(\.stream.originalTransactionId))
                let ids = Set(due.map(\.stream.originalTransactionId))
                #expect(try await polled.answered().intersection(ids) == first)
                // One request of each endpoint was refused, and none was sent after it.
                let refused = try await store.requests().values.compactMap { $0["refused"] }
                #expect(refused.reduce(0, +) == 1)
            }
        }
    }
}
