import Events
import Projections
import TestSupport
import Testing

/// Upgrades, refunds, reversals and family sharing
/// (Apple's data: scenarios 4, 5, 10, traps 8 to 10, 26 to 31, 40).
@Suite struct ChangeAndRefundScenarioTests {
    @Test func `an upgrade takes effect at the premium start although the refund came later`()
        throws
    {
        try expect(
            """
            @04-23T10:00 purchase basic 03-14..04-14 woli=1
            @04-23T10:00 purchase basic 04-14..05-14 woli=2 revoked=04-23T09:00:02
            @04-23T10:00 purchase premium 04-23T09:00:00..05-23T09:00:00 woli=3
            ---
            paid basic 03-14..04-14 expired
            paid basic 04-14..04-23T09:00:00 upgraded
            paid premium 04-23T09:00:00..05-23T09:00:00 open
            active 03-14..05-23T09:00:00
            """
        )
    }

    @Test func `an upgraded period is not active although its expiry is in the future`() throws {
        let ledger = try expect(
            """
            @2020-12-05T14:10 purchase a 2020-12-05T13:44:41..2021-12-05T13:44:41 woli=1 upgraded
            @2020-12-05T14:10 purchase b 2020-12-05T14:05:19..2021-12-05T14:05:19 woli=2
            ---
            paid a 2020-12-05T13:44:41..2020-12-05T14:05:19 upgraded
            paid b 2020-12-05T14:05:19..2021-12-05T14:05:19 open
            active 2020-12-05T13:44:41..2021-12-05T14:05:19
            """
        )
        let rows = ActivePeriods(ledger.timeline(of: TimelineText.stream)).rows
        #expect(rows.map { $0.positions.map(\.offset) } == [[1, 2], [2]])
    }

    @Test func `an upgraded period is never restored when its successor is refunded`() throws {
        try expect(
            """
            @2020-12-05T14:10 purchase a 2020-12-05T13:44:41..2021-12-05T13:44:41 woli=1 upgraded
            @2020-12-05T14:10 purchase b 2020-12-05T14:05:19..2021-12-05T14:05:19 woli=2
            @2020-12-11 purchase b 2020-12-05T14:05:19..2021-12-05T14:05:19 revoked=2020-12-10
            ---
            paid a 2020-12-05T13:44:41..2020-12-05T14:05:19 upgraded
            paid b 2020-12-05T14:05:19..2020-12-10 refunded
            active 2020-12-05T13:44:41..2020-12-10
            """
        )
    }

    // Found by life 525 of seed 20261202: a crossgrade leaves no mark, and the remaining purchase
    // was upgraded later (Apple's data: trap 40, transactions).
    @Test func `of two purchases in one second the later id stays, even if it is upgraded later`()
        throws
    {
        try expect(
            """
            @09-02 purchase students 09-02..10-02 woli=3
            @09-15 purchase plus 09-02..10-02 woli=4 upgraded
            @09-15 purchase pro 09-15..10-15 woli=5
            ---
            paid students 09-02..09-02 upgraded
            paid plus 09-02..09-15 upgraded
            paid pro 09-15..10-15 open
            active 09-02..10-15
            """
        )
    }

    @Test func `an upgrade mark on the same key is news and is kept`() throws {
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-02 purchase basic 03-20..04-20 woli=1 upgraded
            ---
            paid basic 03-20..04-02 upgraded
            active 03-20..04-02
            """
        )
        #expect(ledger.events.count == 2)
    }

    @Test
    func `without its successor an upgraded period ends when Apple first reported the upgrade`()
        throws
    {
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-02 purchase basic 03-20..04-20 woli=1 upgraded
            @04-09 purchase basic 03-20..04-20 woli=1 upgraded
            ---
            paid basic 03-20..04-02 upgraded
            active 03-20..04-02
            """
        )
        let rows = ActivePeriods(ledger.timeline(of: TimelineText.stream)).rows
        // The second event contains everything in the first, with a later as-of; the third is not
        // an event.
        #expect(rows.map { $0.positions.map(\.offset) } == [[2]])
    }

    @Test func `a resubscription to the same product ends the old period without an upgrade`()
        throws
    {
        try expect(
            """
            @04-03 purchase monthly 03-20..04-20 woli=1
            @04-03 purchase monthly 04-02..05-02 woli=2
            ---
            paid monthly 03-20..04-02 replaced
            paid monthly 04-02..05-02 open
            active 03-20..05-02
            """
        )
    }

    @Test func `of two purchases in one second without ids the upgraded one is empty`() throws {
        try expect(
            """
            @04-21 purchase basic 04-20..05-20 upgraded
            @04-21 purchase premium 04-20..05-20
            ---
            paid basic 04-20..04-20 upgraded
            paid premium 04-20..05-20 open
            active 04-20..05-20
            """
        )
    }

    @Test func `of two unmarked purchases in one second the later line item stays`() throws {
        try expect(
            """
            @04-21 purchase premium 04-20..05-20 woli=8
            @04-21 purchase basic 04-20..05-20 woli=9
            ---
            paid premium 04-20..04-20 upgraded
            paid basic 04-20..05-20 open
            active 04-20..05-20
            """
        )
    }

    @Test func `without line items the greater product name of one second stays`() throws {
        try expect(
            """
            @04-21 purchase premium 04-20..05-20
            @04-21 purchase basic 04-20..05-20
            ---
            paid basic 04-20..04-20 upgraded
            paid premium 04-20..05-20 open
            active 04-20..05-20
            """
        )
    }

    @Test func `a refund ends the period at its date and keeps it in the history`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-03 purchase monthly 03-20..04-20 woli=1 revoked=04-02
            ---
            paid monthly 03-20..04-02 refunded
            active 03-20..04-02
            """
        )
    }

    @Test func `a refund of an older period does not affect the current one`() throws {
        try expect(
            """
            @06-05 purchase monthly 05-01..06-01 woli=1 revoked=05-20
            @06-05 purchase monthly 06-01..07-01 woli=2
            ---
            paid monthly 05-01..05-20 refunded
            paid monthly 06-01..07-01 open
            active 05-01..05-20 06-01..07-01
            """
        )
    }

    @Test func `a refund after the end changes neither date nor reason`() throws {
        try expect(
            """
            @06-05 purchase monthly 05-01..06-01 woli=1 revoked=06-04
            @06-05 purchase monthly 06-01..07-01 woli=2 revoked=07-01
            ---
            paid monthly 05-01..06-01 expired
            paid monthly 06-01..07-01 open
            active 05-01..07-01
            """
        )
    }

    @Test func `a reversal restores the period`() throws {
        let ledger = try expect(
            """
            @05-02 purchase monthly 05-01..06-01 woli=1
            @06-10 purchase monthly 05-01..06-01 woli=1 revoked=05-20
            @06-10 notice REFUND uuid=n1
            @06-20 purchase monthly 05-01..06-01 woli=1
            @06-20 notice REFUND_REVERSED uuid=n2
            @06-20 purchase monthly 06-01..07-01 woli=2
            ---
            paid monthly 05-01..06-01 expired
            paid monthly 06-01..07-01 open
            active 05-01..07-01
            """
        )
        // Refunded, then reversed: three facts about one key, not two.
        let about = ledger.events.filter { $0.fact.content.text(.webOrderLineItemId) == "1" }
        #expect(about.count == 3)
    }

    @Test func `a reversal seen only by polling is a later statement without a revocation`() throws
    {
        try expect(
            """
            @06-10 purchase monthly 05-01..06-01 woli=1 revoked=05-20 type=REFUND_FULL
            @06-20 purchase monthly 05-01..06-01 woli=1
            ---
            paid monthly 05-01..06-01 expired
            active 05-01..06-01
            """
        )
    }

    @Test func `an old statement without a revocation does not reverse a refund`() throws {
        try expect(
            """
            @05-20 purchase monthly 05-01..06-01 woli=1 revoked=05-20
            @05-02 purchase monthly 05-01..06-01 woli=1
            @05-10 purchase monthly 05-01..06-01 woli=1
            ---
            paid monthly 05-01..05-20 refunded
            active 05-01..05-20
            """
        )
    }

    @Test func `a statement repeated after a refund is a reversal`() throws {
        try expect(
            """
            @05-02 purchase monthly 05-01..06-01 woli=1
            @05-30 purchase monthly 05-01..06-01 woli=1
            @05-20 purchase monthly 05-01..06-01 woli=1 revoked=05-20
            ---
            paid monthly 05-01..06-01 open
            active 05-01..06-01
            """
        )
    }

    @Test func `if Apple moves a refund date, the last statement counts`() throws {
        try expect(
            """
            @05-20 purchase monthly 05-01..06-01 woli=1 revoked=05-20
            @05-25 purchase monthly 05-01..06-01 woli=1 revoked=05-12
            ---
            paid monthly 05-01..05-12 refunded
            active 05-01..05-12
            """
        )
    }

    @Test func `a refund dated before the start leaves an empty row`() throws {
        try expect(
            """
            @04-19 purchase monthly 04-20..05-20 woli=1 revoked=04-19
            ---
            paid monthly 04-20..04-20 refunded
            active
            """
        )
    }

    @Test func `loss of family sharing is a revocation, not a refund`() throws {
        try expect(
            """
            @06-05 purchase monthly 05-01..06-01 woli=1 family revoked=05-20
            @06-05 purchase monthly 06-01..07-01 woli=2 revoked=06-03 type=FAMILY_REVOKE
            ---
            family monthly 05-01..05-20 revoked
            paid monthly 06-01..06-03 revoked
            active 05-01..05-20 06-01..06-03
            """
        )
    }

    @Test func `the expiry of one stream ends no other stream`() throws {
        let second = StreamID(environment: .production, originalTransactionId: "2000")
        let first = try TimelineText(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 auto=1 retry
            @06-19 notice EXPIRED BILLING_RETRY uuid=n1
            """
        )
        let other = try TimelineText(
            "@05-01 purchase yearly 05-01..2027-05-01 woli=2",
            stream: second
        )
        let ledger = MemoryLedger([first.facts + other.facts])
        #expect(
            describe(ActivePeriods(ledger.timeline(of: second)))
                == ["paid yearly 05-01..2027-05-01 open", "active 05-01..2027-05-01"]
        )
        #expect(
            describe(ActivePeriods(ledger.timeline(of: TimelineText.stream)))
                == ["paid monthly 03-20..04-20 expired because=billing", "active 03-20..04-20"]
        )
    }
}
