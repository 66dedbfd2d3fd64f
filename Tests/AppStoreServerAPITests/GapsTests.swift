@testable import AppStoreServerAPI
import AppStoreSimulator
import EventLog
import Events
import Foundation
import SimulatedStoreService
import Subledger
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
                let before = try await ledger.gaps(at: store.now)
                let missing = before.gaps.filter { $0.kind == "renewal_missing" }
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
                let after = try await ledger.gaps(at: store.now, limit: 1000)
                #expect(after.counts["renewal_missing"] == 0, "\(after.gaps.first as Any)")
                // What came by the question was missed, and is listed with how late it was.
                let missed = after.gaps.filter { $0.kind == "notification_missed" }
                #expect(missed.count > 20 && missed.count == after.counts["notification_missed"])
                #expect(missed.allSatisfy { $0.since > silent && $0.milliseconds >= 3_600_000 })
                // As known before the question, nothing of it is there.
                let known = try await ledger.gaps(
                    at: store.now,
                    knownAt: .offsets(heads)
                )
                #expect(known.counts["notification_missed"] == 0)
                #expect(known.counts["renewal_missing"] == before.counts["renewal_missing"])
            }
        }
    }
}
