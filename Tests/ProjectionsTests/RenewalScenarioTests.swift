import Events
import Projections
import Testing
import TestSupport

/// Purchases, renewals, restores and extensions (Apple's data: scenarios 1, 2, 3, 6, 11, 14, 16).
@Suite struct RenewalScenarioTests {
    @Test func `two contiguous periods in reverse order are one run`() throws {
        try expect(
            """
            @03-14T08:30 purchase standard 03-14T08:19:17..03-14T08:24:17 id=900200162803342
            @03-14T08:30 purchase standard 03-14T08:14:17..03-14T08:19:17 id=4500000152802828
            ---
            paid standard 03-14T08:14:17..03-14T08:19:17 expired
            paid standard 03-14T08:19:17..03-14T08:24:17 expired
            active 03-14T08:14:17..03-14T08:24:17
            """
        )
    }

    @Test func `a restore is the same period under another transaction id`() throws {
        // Apple's data: trap 4
        let ledger = try expect(
            """
            @03-20 purchase monthly 03-20..04-20 id=T1 woli=7
            @03-25 purchase monthly 03-20..04-20 id=T2 woli=7
            ---
            paid monthly 03-20..04-20 open
            active 03-20..04-20
            """
        )
        #expect(ledger.events.count == 1)
        let timeline = ledger.timeline(of: TimelineText.stream)
        #expect(timeline.purchases.map(\.transactionIds) == [["T1", "T2"]])
    }

    @Test func `milliseconds of old payloads do not create a second period`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20T10:00:05.612Z..04-20T10:00:05.612Z
            @03-21 purchase monthly 03-20T10:00:05..04-20T10:00:05
            ---
            paid monthly 03-20T10:00:05..04-20T10:00:05 open
            active 03-20T10:00:05..04-20T10:00:05
            """
        )
    }

    @Test func `a lapse leaves a gap whose magazine issues are not unlocked`() throws {
        let ledger = try expect(
            """
            @06-18 purchase monthly 02-20..03-20 woli=1
            @06-18 purchase monthly 03-20..04-20 woli=2
            @06-18 purchase monthly 06-17..07-17 woli=3
            ---
            paid monthly 02-20..03-20 expired
            paid monthly 03-20..04-20 expired
            paid monthly 06-17..07-17 open
            active 02-20..04-20 06-17..07-17
            """
        )
        // The magazine rule (Apple's data: magazine rule): the newest issue at the start of a run,
        // and every issue published during it.
        let issues = try (2...7).map { try TimelineText.instant("0\($0)-01") }
        let runs = ActivePeriods(ledger.timeline(of: TimelineText.stream)).active
        let read = issues.filter { issue in
            runs.contains { run in
                run.contains(issue) || issues.last { $0 <= run.lowerBound } == issue
            }
        }
        #expect(read.map(TimelineText.text) == ["02-01", "03-01", "04-01", "06-01", "07-01"])
    }

    @Test func `an extension makes the same period longer`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=7 id=T1
            @04-10 purchase monthly 03-20..05-04 woli=7 id=T1
            ---
            paid monthly 03-20..05-04 open
            active 03-20..05-04
            """
        )
    }

    @Test func `an extension without a line item is found by second and product`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20
            @04-10 purchase monthly 03-20..05-04
            ---
            paid monthly 03-20..05-04 open
            active 03-20..05-04
            """
        )
    }

    @Test func `a shorter expiry wins if Apple stated it later`() throws {
        try expect(
            """
            @04-10 purchase monthly 03-20..05-04 woli=7
            @04-12 purchase monthly 03-20..04-20 woli=7
            ---
            paid monthly 03-20..04-20 open
            active 03-20..04-20
            """
        )
    }

    @Test func `a statement repeated after the extension counts as the latest`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=7
            @04-01 purchase monthly 03-20..05-04 woli=7
            @04-02 purchase monthly 03-20..04-20 woli=7
            ---
            paid monthly 03-20..04-20 open
            active 03-20..04-20
            """
        )
    }

    @Test func `of two expiries stated at the same time the later one counts`() throws {
        try expect(
            """
            @04-10 purchase monthly 03-20..04-20 woli=7
            @04-10 purchase monthly 03-20..05-04 woli=7
            ---
            paid monthly 03-20..05-04 open
            active 03-20..05-04
            """
        )
    }

    @Test func `a fact without a line item joins the one with it`() throws {
        try expect(
            """
            @04-10 purchase monthly 03-20..05-04 woli=7
            @03-20 purchase monthly 03-20..04-20 woli=0
            ---
            paid monthly 03-20..05-04 open
            active 03-20..05-04
            """
        )
    }

    @Test func `an old notification that arrives late changes no state`() throws {
        try expect(
            """
            @04-21 notice DID_RENEW uuid=n2
            @04-21 purchase monthly 04-20..05-20 woli=2
            @03-25 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n1
            @03-25 purchase monthly 03-20..04-20 woli=1
            @03-25 renewal of=04-20 auto=0
            ---
            paid monthly 03-20..04-20 expired
            paid monthly 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `a purchase that never expires is in the log but not in any period`() throws {
        let ledger = try expect(
            """
            @03-20 once coins 03-20 quantity=2 id=T1
            @03-21 once coins 03-21 quantity=2 id=T2
            ---
            active
            """
        )
        #expect(ledger.events.count == 2)
        let timeline = ledger.timeline(of: TimelineText.stream)
        #expect(timeline.horizon == (try TimelineText.instant("03-21")))
    }

    @Test func `a renewal charged early starts in the future`() throws {
        try expect(
            """
            @04-19T08:00 purchase monthly 03-20..04-20 woli=1
            @04-19T08:00 purchase monthly 04-20..05-20 woli=2
            ---
            paid monthly 03-20..04-20 expired
            paid monthly 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `turning auto-renewal off ends nothing`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20
            @03-22 renewal of=04-20 auto=0
            @03-22 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n1
            ---
            paid monthly 03-20..04-20 open
            active 03-20..04-20
            """
        )
    }

    @Test func `a repetition moves the horizon past the end`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20
            @04-20 purchase monthly 03-20..04-20
            ---
            paid monthly 03-20..04-20 expired
            active 03-20..04-20
            """
        )
    }

    @Test func `the purchase terms determine the kind of period`() throws {
        try expect(
            """
            @09-01 purchase monthly 01-01..02-01 woli=1 offer=1 discount=FREE_TRIAL price=0
            @09-01 purchase monthly 02-01..03-01 woli=2 offer=1 price=0
            @09-01 purchase monthly 03-01..04-01 woli=3 offer=1 discount=PAY_AS_YOU_GO price=0
            @09-01 purchase monthly 04-01..05-01 woli=4 offer=1 price=990
            @09-01 purchase monthly 05-01..06-01 woli=5 offer=1
            @09-01 purchase monthly 06-01..07-01 woli=6 offer=2 discount=FREE_TRIAL price=0
            @09-01 purchase monthly 07-01..08-01 woli=7 offer=99
            @09-01 purchase monthly 08-01..09-01 woli=8 price=0
            ---
            trial monthly 01-01..02-01 expired
            trial monthly 02-01..03-01 expired
            intro monthly 03-01..04-01 expired
            intro monthly 04-01..05-01 expired
            intro monthly 05-01..06-01 expired
            offer monthly 06-01..07-01 expired
            offer monthly 07-01..08-01 expired
            paid monthly 08-01..09-01 expired
            active 01-01..09-01
            """
        )
    }
}
