import AppStoreSimulator
import EventLog
import Events
import Foundation
import SimulatedStoreService
import Subledger
@testable import SubledgerAppStore
import Testing

@Suite struct GapsTests {
    @Test func `renewals that never came are gaps until Apple was asked`() async throws {
        try await PollTests.store(36) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let lives = store.server.lives
                // Of the last 75 days nothing arrived: two years of this store.
                let silent = Instant(milliseconds: store.now.milliseconds - 75 * 86_400_000)
                try await polled.ingestEverything(of: lives, until: silent)
                let ledger = polled.ledger
                var aDay = GapLimits()
                (aDay.renewalPatience, aDay.notificationPatience) = (86_400_000, 3_600_000)
                let before = try await ledger.gaps(at: store.now, limits: aDay)
                let missing = before.gaps.filter { $0.kind.rawValue == "renewal_missing" }
                #expect(missing.count > 5 && before.counts["notification_missed"] == 0)
                #expect(before.streams >= 36)
                for gap in missing {
                    #expect(gap.milliseconds == store.now.milliseconds - gap.since.milliseconds)
                    #expect(gap.milliseconds > 86_400_000 && !gap.positions.isEmpty)
                }
                // A patience that is longer than the silence finds none.
                var patient = GapLimits()
                patient.renewalPatience = 400 * 86_400_000
                let none = try await ledger.gaps(at: store.now, limits: patient)
                #expect(none.counts["renewal_missing"] == 0)
                let heads = try await ledger.log.heads().mapValues(\.offset)
                _ = try await polled.poll(.all, store)
                let after = try await ledger.gaps(at: store.now, limit: 1000, limits: aDay)
                #expect(after.counts["renewal_missing"] == 0, "\(after.gaps.first as Any)")
                // What came by the question was missed, and is listed with how late it was.
                let missed = after.gaps.filter { $0.kind.rawValue == "notification_missed" }
                #expect(missed.count > 20 && missed.count == after.counts["notification_missed"])
                #expect(missed.allSatisfy { $0.since > silent && $0.milliseconds >= 3_600_000 })
                // As known before the question, nothing of it is there.
                let known = try await ledger.gaps(
                    at: store.now,
                    knownAt: .offsets(heads),
                    limits: aDay
                )
                #expect(known.counts["notification_missed"] == 0)
                #expect(known.counts["renewal_missing"] == before.counts["renewal_missing"])
            }
        }
    }

    @Test func `a subscription that ended before the span of a round must be named`() async throws {
        try await PollTests.store(36) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let silent = Instant(milliseconds: store.now.milliseconds - 75 * 86_400_000)
                try await polled.ingestEverything(of: store.server.lives, until: silent)
                let found = try await polled.ledger.gaps(at: store.now, limit: 1000)
                let missing = found.gaps.filter { $0.kind.rawValue == "renewal_missing" }
                let days60: Int64 = 60 * 86_400_000
                let old = missing.filter { $0.milliseconds > days60 }
                let young = missing.filter { $0.milliseconds <= days60 }
                #expect(!old.isEmpty && !young.isEmpty)
                #expect(old.allSatisfy { $0.next == "backfill \($0.originalTransactionId)" })
                #expect(young.allSatisfy { $0.next == "poll" })
                // The named command closes them.
                let ids = Set(old.map(\.originalTransactionId))
                _ = try await polled.backfill(.ids(ids.sorted()), store)
                let after = try await polled.ledger.gaps(at: store.now, limit: 1000)
                #expect(
                    !after.gaps.contains {
                        $0.kind.rawValue == "renewal_missing"
                            && ids.contains($0.originalTransactionId)
                    }
                )
            }
        }
    }

    @Test func `in a store with months of minutes, the default limits still find gaps`()
        async throws
    {
        let now = Instant.systemClock()
        try await TestStore.run(at: now) {
            ($0.seed, $0.subscriptions) = (PollTests.seed, 36)
            // A month takes five minutes, and thirty of them have passed.
            $0.monthMilliseconds = 300_000
            $0.openedAt = Instant(milliseconds: now.milliseconds - 30 * 300_000)
            $0.rateShare = 1000
        } _: { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                // Nothing arrived in the last hour, which is a year of this store.
                let silent = Instant(milliseconds: now.milliseconds - 3_600_000)
                try await polled.ingestEverything(of: store.server.lives, until: silent)
                let found = try await polled.ledger.gaps(at: now, limit: 1000)
                #expect(found.counts["renewal_missing"] ?? 0 > 5, "\(found.counts)")
                var aDay = GapLimits()
                aDay.renewalPatience = 86_400_000
                let drowned = try await polled.ledger.gaps(at: now, limits: aDay)
                #expect(drowned.counts["renewal_missing"] == 0)
                _ = try await polled.poll(.all, store)
                let after = try await polled.ledger.gaps(at: now, limit: 1000)
                #expect(after.counts["notification_missed"] ?? 0 > 10, "\(after.counts)")
            }
        }
    }
}
