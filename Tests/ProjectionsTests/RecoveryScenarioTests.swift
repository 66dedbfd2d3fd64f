import Events
import Projections
import Testing
import TestSupport

/// What follows failed charges, refunds and replaced periods (Apple's data: traps 9, 14, 18, 21).
@Suite struct RecoveryScenarioTests {
    @Test func `a recovery in grace is a billing issue entered and recovered`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990 reason=PURCHASE
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-01 purchase basic 04-20..05-20 woli=2 price=9990 reason=RENEWAL
            @05-01 renewal of=05-20 auto=1
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 renewal basic 9990 "Renewals from Grace Period"
            04-20 billing_issue_entered basic "Grace Period from Paid Subscription"
            05-01 billing_issue_recovered basic
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..05-01 on
            active waiting 05-01..05-20 on
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `a recovery in grace that is reported late was in grace only until the grace ended`()
        throws
    {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-18 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
            @05-18 renewal of=05-20 auto=1
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..05-06 on
            active waiting 05-06..05-20 on
            """
        )
    }

    @Test func `billing retry ends after sixty days of silence and adds no movement`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=1 retry
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..06-19 on
            expired closed 06-19.. because=billing
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            """
        )
    }

    @Test func `after a refunded period the renewal at its natural expiry continues the count`()
        throws
    {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-01 purchase basic 03-20..04-20 woli=1 price=9990 revoked=04-01
            @04-20 purchase basic 04-20..05-20 woli=2 price=9990
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-01 exit_refund basic -9990 "Refund"
            04-20 renewal basic 9990 "Renew"
            --- transactions
            basic 03-20..04-20 until=04-01 n=1 paid=1 refunded=04-01 0/9990
            basic 04-20..05-20 n=2 paid=2 9990/9990
            """
        )
    }

    @Test(arguments: ["", " upgraded"])
    func `a row cancelled two seconds before its successor is upgraded, without a gap`(
        mark: String
    ) throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 price=9990 via=response
            @04-23T00:00:02 purchase basic 04-01..05-01 woli=1 price=9990 revoked=04-23\(mark) \
            via=response
            @04-23T00:00:02 purchase premium 04-23T00:00:02..05-23T00:00:02 woli=2 via=response
            ---
            paid basic 04-01..04-23T00:00:02 upgraded
            paid premium 04-23T00:00:02..05-23T00:00:02 open
            active 04-01..05-23T00:00:02
            """
        )
    }

    @Test func `a period refunded and bought again within a minute is still refunded`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-23 purchase basic 04-01..05-01 woli=1 revoked=04-23 type=REFUND_FULL
            @04-23T00:00:30 purchase premium 04-23T00:00:30..05-23 woli=2
            ---
            paid basic 04-01..04-23 refunded
            paid premium 04-23T00:00:30..05-23 open
            active 04-01..04-23 04-23T00:00:30..05-23
            """
        )
    }

    @Test func `another product bought in retry is a change of plan, not a reactivation`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=1 retry
            @05-01 purchase premium 05-01..06-01 woli=2 price=19990 reason=PURCHASE
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            05-01 renewal premium was=basic 19990 "Upgrade from Billing Retry"
            05-01 exit_plan_change basic
            05-01 billing_issue_recovered premium
            """
        )
        // A customer who had cancelled comes back.
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=1 retry
            @04-25 renewal of=04-20 auto=0 intent=1
            @05-01 purchase premium 05-01..06-01 woli=2 price=19990 reason=PURCHASE
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            04-25 churn_voluntary basic because=customer "Canceled from Billing Retry"
            04-25 auto_renew_off basic
            05-01 paid_start premium was=basic 19990 again "Reactivate with Upgrade"
            """
        )
    }

    @Test func `an early charge that was refunded has not succeeded and is not due`() throws {
        let ledger = try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1
            @04-19T08:00 purchase monthly 04-20..05-20 woli=2 reason=RENEWAL
            @04-19T12:00 purchase monthly 04-20..05-20 woli=2 reason=RENEWAL revoked=04-19T12:00
            --- renewal_states
            active waiting 03-20..04-19T08:00:00 on
            active succeeded 04-19T08:00:00..04-19T12:00:00 on
            active closed 04-19T12:00:00..04-20 on
            """
        )
        let timeline = ledger.timeline(of: TimelineText.stream)
        let due = { (at: String) in
            DueCharge(
                timeline,
                at: try TimelineText.instant(at),
                withinMilliseconds: 7 * 86_400_000
            )
        }
        #expect(try due("04-19")?.reason == .endsSoon)
        #expect(try due("04-19T13:00") == nil)
        #expect(try due("04-21") == nil)
    }

    @Test func `a period refunded in retry is not due`() throws {
        let ledger = try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 auto=1 retry
            @04-25 purchase monthly 03-20..04-20 woli=1 revoked=04-25
            ---
            paid monthly 03-20..04-20 expired because=billing
            active 03-20..04-20
            """
        )
        let timeline = ledger.timeline(of: TimelineText.stream)
        let due = { (at: String) in
            DueCharge(timeline, at: try TimelineText.instant(at), withinMilliseconds: 0)
        }
        #expect(try due("04-24")?.reason == .failed)
        #expect(try due("04-26") == nil)
    }

    @Test func `of two dates for one refund the earliest counts, until Apple reverses it`() throws {
        try expect(
            """
            @03-01 purchase monthly 03-01..04-01 woli=1
            @03-04 purchase monthly 03-01..04-01 woli=1 revoked=03-04
            @03-16 purchase monthly 03-01..04-01 woli=1 revoked=03-15
            --- refunds
            refunded untyped current monthly 03-01 revoked=03-04 net
            ---
            paid monthly 03-01..03-04 refunded
            active 03-01..03-04
            """
        )
    }
}
