import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import SimulatedStoreService
import Subledger
@testable import SubledgerAppStore
import Testing

@Suite struct PollPauseTests {
    private static let now = Instant(milliseconds: 1_780_000_000_000)
    private static let hour: Int64 = 3_600_000
    private static let month: Int64 = 30 * 86_400_000

    private static let week: Int64 = 604_800_000
    private static let fiveMinutes: Int64 = 300_000

    private struct Case {
        let reason: PollSubject.Reason
        let hoursToEnd: Int64
        let period: Int64
        let seconds: Double

        init(_ reason: PollSubject.Reason, _ hours: Int64, _ period: Int64, _ seconds: Double) {
            (self.reason, hoursToEnd) = (reason, hours)
            (self.period, self.seconds) = (period, seconds)
        }
    }

    private static let cases = [
        // A customer may be locked out: asked about in each round.
        Case(.overdue, -1, month, 900), Case(.overdue, -23, month, 900),
        // Silent for a day although Apple was asked.
        Case(.overdue, -25, month, 86_400),
        Case(.endsSoon, 1, month, 900), Case(.endsSoon, 20, month, 14_400),
        Case(.failed, 0, month, 21_600), Case(.unreadable, 0, month, 86_400),
        Case(.asked, 0, month, 600),
        // An eighth of a week, and of the five minutes that a month of the sandbox takes.
        Case(.overdue, -100, week, 75_600), Case(.endsSoon, 0, fiveMinutes, 37.5),
        Case(.failed, 0, fiveMinutes, 37.5),
        // Dates that do not form a period set no limit.
        Case(.failed, 0, 0, 21_600),
    ]

    @Test func `the more urgent, the sooner Apple is asked again`() {
        for one in Self.cases {
            let end = Self.now.milliseconds + one.hoursToEnd * Self.hour
            let subject = PollSubject(
                stream: StreamID(environment: .production, originalTransactionId: "1"),
                reason: one.reason,
                accessEnd: Instant(milliseconds: end),
                periodMilliseconds: one.period
            )
            #expect(PollPause.seconds(of: subject, at: Self.now) == one.seconds, "\(one)")
        }
    }

    @Test func `a million monthly subscriptions need less than Apple allows`() {
        func seconds(_ reason: PollSubject.Reason, _ hoursToEnd: Int64) -> Double {
            PollPause.seconds(
                of: PollSubject(
                    stream: StreamID(environment: .production, originalTransactionId: "1"),
                    reason: reason,
                    accessEnd: Instant(
                        milliseconds: Self.now.milliseconds + hoursToEnd * Self.hour
                    ),
                    periodMilliseconds: Self.month
                ),
                at: Self.now
            )
        }
        func questions(_ reason: PollSubject.Reason, _ hours: ClosedRange<Int64>) -> Double {
            var count = 0.0
            for hour in hours { count += 3600 / seconds(reason, hour) }
            return count
        }
        let ending = 1_000_000.0 / 30
        // The last day of each, hour by hour; no subscription renews early.
        let before = questions(.endsSoon, 0...23) * ending
        // One in a hundred stays silent for sixty days.
        let overdue = questions(.overdue, -1440 ... -1) * ending / 100
        // One in twenty fails, and is retried for twenty days.
        let failed = questions(.failed, 0...479) * ending / 20
        let allowed = RequestBudget.rate(.statuses, .production, 0.5) * 86_400
        #expect(before + overdue + failed < allowed / 2, "\(before) \(overdue) \(failed)")
    }

    @Test func `a due subscription is asked about in the first round and not in the second`()
        async throws
    {
        try await PollTests.store(36) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let silent = Instant(milliseconds: store.now.milliseconds - 10 * 86_400_000)
                try await polled.ingestEverything(of: store.server.lives, until: silent)
                // Apple's answers leave some due: failed charges, and periods that end soon.
                let within = PollSelection.due(withinMilliseconds: 3 * 86_400_000)
                func round() async throws -> PollReport {
                    try await polled.poll(within, store, configure: { $0.pauseSeconds = nil })
                }
                let first = try await round()
                #expect(first.answered > 0 && first.failed == 0)
                #expect(first.oldestDueSeconds ?? 0 > 0)
                let asked = try await store.requests()["Production statuses"]?["requests"]
                let second = try await round()
                #expect(second.reasons.values.reduce(0, +) > 0, "no subscription was due any more")
                #expect(second.answered == 0, "the same subscriptions were asked about again")
                #expect(second.skipped == second.reasons.values.reduce(0, +))
                #expect(second.oldestDueSeconds == 0)
                #expect(second.notificationsAsked == 0 && second.notificationsSkipped == 2)
                #expect(
                    try await store.requests()["Production statuses"]?["requests"] == asked
                )
                // When the longest pause is over, each is asked about again.
                let session = try await PostgresSession.connect(polled.settings)
                try await session.execute(
                    "UPDATE operation.poll SET answered_at = answered_at - interval '2 days'"
                )
                await session.close()
                let third = try await round()
                #expect(third.answered > 0)
                #expect(third.oldestDueSeconds ?? 0 > 86_400)
            }
        }
    }

    @Test func `every selected subscription is answered, skipped, left or failed`() async throws {
        try await PollTests.store(24) { store in
            try await PolledLedger.run(seed: PollTests.seed) { polled in
                let silent = Instant(milliseconds: store.now.milliseconds - 40 * 86_400_000)
                try await polled.ingestEverything(of: store.server.lives, until: silent)
                func expectSum(_ report: PollReport, _ words: String) {
                    let selected = report.reasons.values.reduce(0, +)
                    let came = report.answered + report.skipped + report.left + report.failed
                    #expect(selected == came, "\(words): \(report)")
                    #expect(selected > 0, "\(words)")
                }
                let few = try await polled.poll(
                    .due(withinMilliseconds: 86_400_000),
                    store,
                    configure: { ($0.pauseSeconds, $0.subscriptionsMax) = (nil, 2) }
                )
                expectSum(few, "a round that is too small")
                #expect(few.left > 0 && few.answered > 0)
                let since = try await polled.backfill(.since(silent), store)
                expectSum(since.asked, "backfill --since")
                expectSum(try await polled.backfill(.all, store).asked, "backfill --all")
                expectSum(try await polled.poll(.all, store), "poll --all")
                expectSum(try await polled.poll(.ids(["404"]), store), "an unknown id")
            }
        }
    }
}
