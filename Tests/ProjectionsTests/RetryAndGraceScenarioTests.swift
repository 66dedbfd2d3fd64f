import Events
import Projections
import Testing
import TestSupport

/// Failed renewals (Apple's data: traps 19 to 22, scenarios 7 to 9).
@Suite struct RetryAndGraceScenarioTests {
    @Test func `recovery from billing retry leaves a gap`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW uuid=n1
            @04-20 renewal of=04-20 auto=1 retry
            @05-05 purchase monthly 05-05..06-05 woli=2
            ---
            paid monthly 03-20..04-20 expired because=billing
            paid monthly 05-05..06-05 open
            active 03-20..04-20 05-05..06-05
            """
        )
    }

    @Test func `recovery within grace is contiguous and leaves no grace period`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-01 purchase monthly 04-20..05-20 woli=2
            @05-01 renewal of=05-20 auto=1
            ---
            paid monthly 03-20..04-20 expired
            paid monthly 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `an unpaid grace gives access only until its end`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-06 notice GRACE_PERIOD_EXPIRED uuid=n1
            @05-06 renewal of=04-20 grace=05-06 auto=1 retry
            @06-19 notice EXPIRED BILLING_RETRY uuid=n2
            @06-19 renewal of=04-20 auto=0
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..05-06 expired because=billing
            active 03-20..05-06
            """
        )
    }

    @Test func `recovery after grace leaves the grace days and a gap`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-10 purchase monthly 05-10..06-10 woli=2
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..05-06 expired because=billing
            paid monthly 05-10..06-10 open
            active 03-20..05-06 05-10..06-10
            """
        )
    }

    @Test func `grace is open while Apple has stated nothing after it`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..05-06 open
            active 03-20..05-06
            """
        )
    }

    @Test func `a resubscription inside grace ends it`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-25 purchase yearly 04-25..2027-04-25 woli=2
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..04-25 expired
            paid yearly 04-25..2027-04-25 open
            active 03-20..2027-04-25
            """
        )
    }

    @Test func `cancelling in grace ends it at once`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-28T12:00 renewal of=04-20 grace=05-06 auto=0
            @05-02 renewal of=04-20 auto=0
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..04-28T12:00:00 expired because=billing
            active 03-20..04-28T12:00:00
            """
        )
    }

    @Test func `a later snapshot without grace ends it at once`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-28 renewal of=04-20 auto=1 retry
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..04-28 expired because=billing
            active 03-20..04-28
            """
        )
    }

    @Test func `the snapshot with the latest date counts`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-21 renewal of=04-20 grace=04-23 auto=1 retry
            @04-22 notice DID_FAIL_TO_RENEW uuid=n1
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..04-23 open
            active 03-20..04-23
            """
        )
    }

    @Test func `a snapshot without a renewal date is about the period that expired last`() throws {
        try expect(
            """
            @02-20 purchase monthly 02-20..03-20 woli=1
            @03-20 purchase monthly 03-20..04-20 woli=2
            @04-20 renewal grace=05-06 auto=1 retry
            ---
            paid monthly 02-20..03-20 expired
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..05-06 open
            active 02-20..05-06
            """
        )
    }

    @Test func `a snapshot about an expiry that was extended creates no grace`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-21 purchase monthly 03-20..05-20 woli=1
            ---
            paid monthly 03-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `a refunded period has no grace`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-22 purchase monthly 03-20..04-20 woli=1 revoked=04-10
            ---
            paid monthly 03-20..04-10 refunded
            active 03-20..04-10
            """
        )
    }

    @Test func `a grace row cites its snapshot and the event that ended it`() throws {
        let ledger = try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-28 renewal of=04-20 auto=1 retry
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..04-28 expired because=billing
            active 03-20..04-28
            """
        )
        let rows = ActivePeriods(ledger.timeline(of: TimelineText.stream)).rows
        #expect(rows.map { $0.positions.map(\.offset) } == [[1], [1, 2, 3]])
    }
}
