import Events
import Projections
import TestSupport
import Testing

/// Grace periods that Apple announces without `gracePeriodExpiresDate` (Apple's data: trap 20).
@Suite struct UndatedGraceTests {
    private let failed = """
        @04-13 purchase monthly 04-13..04-20 woli=1 offer=1 discount=FREE_TRIAL price=0
        @04-20 renewal of=04-20 auto=1 retry product=monthly
        @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4 about=04-13..04-20

        """

    @Test func `a grace announced without a date lasts 28 days if no word follows`() throws {
        try expect(
            failed + """
                ---
                trial monthly 04-13..04-20 expired
                grace monthly 04-20..05-18 open
                active 04-13..05-18
                --- renewal_states
                active waiting 04-13..04-20
                grace_period failed 04-20..05-18 on
                billing_retry failed 05-18..06-19 on
                expired closed 06-19.. because=billing
                --- movements
                04-13 offer_start monthly 0 "Start Introductory Offer"
                04-20 billing_issue_entered monthly "Grace Period from Introductory Offer"
                """
        )
    }

    // A status alone, or the type alone in payloads from before 2023-06, says the same.
    @Test(arguments: [
        "@04-22 notice DID_CHANGE_RENEWAL_PREF uuid=n1 status=4",
        "@04-19T23:00 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 about=04-13..04-20",
    ])
    func `a status or a type without a date announces a grace`(notice: String) throws {
        try expect(
            """
            @04-13 purchase monthly 04-13..04-20 woli=1
            \(notice)
            ---
            paid monthly 04-13..04-20 expired
            grace monthly 04-20..05-18 open
            active 04-13..05-18
            """
        )
    }

    // Apple's next word ends it.
    @Test(arguments: [
        ("@05-06 notice GRACE_PERIOD_EXPIRED uuid=n2 status=3", "05-06"),
        ("@05-06 notice GRACE_PERIOD_EXPIRED uuid=n2", "05-06"),
        ("@05-03 notice EXPIRED BILLING_RETRY uuid=n2 status=2", "05-03"),
        ("@04-25 renewal of=04-20 auto=0 product=monthly", "04-25"),
        ("@04-25 renewal of=04-20 auto=1 product=monthly", "04-25"),
        ("@04-25 renewal of=04-20 grace=05-06 auto=1 retry product=monthly", "05-06"),
        ("@04-25 renewal of=04-20 auto=1 retry product=monthly", "05-18"),
        ("@04-25 notice DID_CHANGE_RENEWAL_STATUS uuid=n2 status=1", "05-18"),
        ("@07-25 notice EXPIRED BILLING_RETRY uuid=n2 status=2", "05-18"),
    ])
    func `a grace without a date ends with Apple's next word about it`(
        word: String,
        end: String
    )
        throws
    {
        let ledger = MemoryLedger([try TimelineText(failed + word).facts])
        let rows = ActivePeriods(ledger.timeline(of: TimelineText.stream)).rows
        let grace = try #require(rows.last)
        #expect(grace.kind == .grace)
        #expect(TimelineText.text(grace.validTo) == end)
    }

    @Test func `auto-renewal off does not end it while the signed status is still grace`() throws {
        try expect(
            failed + """
                @04-25 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n2 status=4
                @04-25 renewal of=04-20 auto=0 retry product=monthly
                ---
                trial monthly 04-13..04-20 expired
                grace monthly 04-20..05-18 open
                active 04-13..05-18
                """
        )
    }

    @Test func `a dated grace continues while Apple's status says so, also without its date`()
        throws
    {
        try expect(
            """
            @04-13 purchase monthly 04-13..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-25 renewal of=04-20 auto=1 retry
            @04-25 notice DID_CHANGE_RENEWAL_PREF uuid=n2 status=4
            ---
            paid monthly 04-13..04-20 expired
            grace monthly 04-20..05-06 open
            active 04-13..05-06
            """
        )
    }

    @Test func `a recovery in a grace without a date covers it, and counts as a recovery`() throws {
        try expect(
            failed + """
                @04-28 purchase monthly 04-20..05-20 woli=2 price=9990 reason=RENEWAL
                @04-28 notice DID_RENEW BILLING_RECOVERY uuid=n2 status=1 about=04-20..05-20
                @05-01 purchase monthly 04-20..05-20 woli=2 price=9990 reason=RENEWAL revoked=05-01
                ---
                trial monthly 04-13..04-20 expired
                paid monthly 04-20..05-01 refunded
                active 04-13..05-01
                --- renewal_states
                active waiting 04-13..04-20
                grace_period failed 04-20..04-28 on
                active waiting 04-28..05-01 on
                revoked closed 05-01.. on
                --- movements
                04-13 offer_start monthly 0 "Start Introductory Offer"
                04-20 conversion monthly 9990 "Paid Subscription from Introductory Offer"
                04-20 billing_issue_entered monthly "Grace Period from Introductory Offer"
                04-28 billing_issue_recovered monthly
                05-01 exit_refund monthly -9990 "Refund"
                """
        )
    }

    @Test func `a refund ends a grace without a date`() throws {
        try expect(
            failed + """
                @04-25 purchase monthly 04-13..04-20 woli=1 offer=1 revoked=04-24 price=0
                @04-25 notice REFUND uuid=n2 status=5 about=04-13..04-20
                ---
                trial monthly 04-13..04-20 expired
                grace monthly 04-20..04-24 refunded
                active 04-13..04-24
                """
        )
    }

    @Test func `a revocation in the millisecond in which a grace is stated to be over ends it`()
        throws
    {
        try expect(
            failed + """
                @04-25 purchase monthly 04-13..04-20 woli=1 offer=1 revoked=04-25 price=0
                @04-25 notice REFUND uuid=n2 status=5 about=04-13..04-20
                ---
                trial monthly 04-13..04-20 expired
                grace monthly 04-20..04-25 refunded
                active 04-13..04-25
                --- renewal_states
                active waiting 04-13..04-20
                grace_period failed 04-20..04-25 on
                revoked closed 04-25.. on
                """
        )
    }

    @Test func `Apple's statements about a grace without a date agree with the fold`() throws {
        var history = MemoryLedger([
            try TimelineText(
                failed + """
                    @04-25 renewal of=04-20 auto=1 retry product=monthly next=annual
                    @05-06 notice GRACE_PERIOD_EXPIRED uuid=n2 status=3
                    @05-06 renewal of=04-20 auto=1 retry product=monthly
                    """
            ).facts
        ]).history(of: TimelineText.stream)
        history.events = history.events.map { event in
            Event(
                position: event.position,
                recordedAt: event.recordedAt,
                fact: event.fact,
                evidence: event.fact.asOf.milliseconds
            )
        }
        let report = Drift.check(history)
        #expect(report.disagreements.isEmpty, "\(report.disagreements)")
        #expect(report.checked >= 4)
    }
}
