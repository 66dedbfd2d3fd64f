import Events
import Projections
import Testing

/// Traps about how a period ends and what follows it (Apple's data: traps).
@Suite struct TrapTestsOfRenewal {
    @Test func `auto-renewal off is not an end, and Cancel counts when the period ends`() throws {
        // Apple's data: trap 11
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @03-21 renewal of=04-20 auto=0
            @04-20T00:05 notice EXPIRED VOLUNTARY uuid=n1 status=2
            @04-20T00:05 renewal of=04-20 auto=0 intent=1
            ---
            paid basic 03-20..04-20 expired because=customer
            active 03-20..04-20
            --- renewal_states
            active waiting 03-20..03-21
            active closed 03-21..04-20 off
            expired closed 04-20.. off because=customer
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            03-21 auto_renew_off basic
            04-20 churn_voluntary basic because=customer "Cancel"
            """
        )
    }

    @Test func `a renewal is charged a day early and begins at the boundary`() throws {
        // Apple's data: trap 14
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-19T01:00 purchase basic 04-20..05-20 woli=2 price=9990 reason=RENEWAL
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 open
            active 03-20..05-20
            --- renewal_states
            active waiting 03-20..04-19T01:00:00
            active succeeded 04-19T01:00:00..04-20
            active waiting 04-20..05-20
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 renewal basic 9990 "Renew"
            """
        )
    }

    @Test func `a small gap is in the log and in access, but is not a lapse`() throws {
        // Apple's data: trap 16
        try expect(
            """
            @03-20T08:06 purchase basic 03-20T08:00..03-20T08:05 woli=1
            @03-20T08:06 purchase basic 03-20T08:05:40..03-20T08:10:40 woli=2
            ---
            paid basic 03-20T08:00:00..03-20T08:05:00 expired
            paid basic 03-20T08:05:40..03-20T08:10:40 open
            active 03-20T08:00:00..03-20T08:05:00 03-20T08:05:40..03-20T08:10:40
            --- transactions
            basic 03-20T08:00:00..03-20T08:05:00 n=1 paid=1
            basic 03-20T08:05:40..03-20T08:10:40 n=2 paid=2
            --- movements
            03-20T08:00:00 paid_start basic "Subscribe"
            03-20T08:05:00 churn_unknown basic "Cancel"
            03-20T08:05:40 renewal basic "Renew"
            """
        )
    }

    @Test func `an end is never computed from the start and the product's length`() throws {
        // Apple's data: trap 17: `basic` is sold by the month.
        try expect(
            """
            @03-20 purchase basic 03-20..03-29 woli=1
            @03-29 purchase basic 03-29..05-20 woli=2 reason=RENEWAL
            ---
            paid basic 03-20..03-29 expired
            paid basic 03-29..05-20 open
            active 03-20..05-20
            --- renewal_states
            active waiting 03-20..05-20
            --- transactions
            basic 03-20..03-29 n=1 paid=1
            basic 03-29..05-20 n=2 paid=2
            """
        )
    }

    @Test func `billing retry lasts sixty days, unless Apple reports when it ended`()
        throws
    {
        // Apple's data: trap 18
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 auto=1 retry
            @07-20 renewal of=04-20 auto=1 intent=2
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..06-19 on
            expired closed 06-19..07-20 because=billing
            expired closed 07-20.. on because=billing
            --- movements
            03-20 paid_start basic "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            06-19 churn_involuntary basic because=billing "Canceled from Billing Retry"
            """
        )
    }

    @Test func `a recovery in retry starts on its own day, and the days before it are a gap`()
        throws
    {
        // Apple's data: trap 19
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW uuid=n1 status=3
            @04-20 renewal of=04-20 auto=1 retry
            @05-05 purchase basic 05-05..06-05 woli=2 reason=RENEWAL
            ---
            paid basic 03-20..04-20 expired because=billing
            paid basic 05-05..06-05 open
            active 03-20..04-20 05-05..06-05
            --- movements
            03-20 paid_start basic "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            05-05 renewal basic "Renewal from Billing Retry"
            05-05 billing_issue_recovered basic
            """
        )
    }

    // Three and six days of a week; sixteen and 28 of a month; and a date that Apple never sets.
    @Test(arguments: ["04-23", "04-26", "05-06", "05-18", "04-20T12:00:07"])
    func `grace ends at Apple's date, whatever the product's length`(end: String) throws {
        // Apple's data: trap 20
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=\(end) auto=1 retry
            @05-30 renewal of=04-20 grace=\(end) auto=1 retry
            ---
            paid basic 03-20..04-20 expired
            grace basic 04-20..\(end) expired because=billing
            active 03-20..\(end)
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..\(end) on
            billing_retry failed \(end)..06-19 on
            expired closed 06-19.. because=billing
            """
        )
    }

    @Test func `a recovery in grace continues the cycle, one after it leaves the grace days free`()
        throws
    {
        // Apple's data: trap 21
        let grace = """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            """
        try expect(
            grace + """

                @05-01 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
                @05-01 renewal of=05-20 auto=1
                ---
                paid basic 03-20..04-20 expired
                paid basic 04-20..05-20 open
                active 03-20..05-20
                """
        )
        try expect(
            grace + """

                @05-10 purchase basic 05-10..06-10 woli=2 reason=RENEWAL
                @05-10 renewal of=06-10 auto=1
                ---
                paid basic 03-20..04-20 expired
                grace basic 04-20..05-06 expired because=billing
                paid basic 05-10..06-10 open
                active 03-20..05-06 05-10..06-10
                """
        )
    }

    @Test func `cancelling in grace ends it at once`() throws {
        // Apple's data: trap 22
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-28 renewal of=04-20 grace=05-06 auto=0
            ---
            paid basic 03-20..04-20 expired
            grace basic 04-20..04-28 expired because=billing
            active 03-20..04-28
            --- movements
            03-20 paid_start basic "Subscribe"
            04-20 billing_issue_entered basic "Grace Period from Paid Subscription"
            04-28 churn_voluntary basic "Canceled from Billing Grace Period"
            04-28 auto_renew_off basic
            """
        )
    }

    @Test func `a price increase is a flag until the customer lets it end the subscription`()
        throws
    {
        // Apple's data: trap 34
        let asked = """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-01 notice PRICE_INCREASE PENDING uuid=n1 status=1
            @04-01 renewal of=04-20 auto=1 consent=0
            """
        try expect(
            asked + """

                @04-10 notice PRICE_INCREASE ACCEPTED uuid=n2 status=1
                @04-10 renewal of=04-20 auto=1 consent=1
                ---
                paid basic 03-20..04-20 open
                active 03-20..04-20
                --- renewal_states
                active waiting 03-20..04-01
                active waiting 04-01..04-10 on pending
                active waiting 04-10..04-20 on accepted
                --- movements
                03-20 paid_start basic "Subscribe"
                """
        )
        try expect(
            asked + """

                @04-20 notice EXPIRED PRICE_INCREASE uuid=n2 status=2
                @04-20 renewal of=04-20 auto=1 intent=3
                ---
                paid basic 03-20..04-20 expired because=price_increase
                active 03-20..04-20
                --- movements
                03-20 paid_start basic "Subscribe"
                04-20 churn_price_increase basic because=price_increase "Cancel"
                """
        )
    }

    @Test func `a late statement takes its place in the history and decides nothing`() throws {
        // Apple's data: trap 39: the last line is signed first.
        try expect(
            """
            @04-20 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
            @04-22 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n3 status=1
            @04-22 renewal of=05-20 auto=0
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-19 renewal of=04-20 auto=1
            @04-19 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED uuid=n2 status=1
            @04-01 renewal of=04-20 auto=0
            @04-01 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n1 status=1
            --- renewal_states
            active waiting 03-20..04-01
            active closed 04-01..04-19 off
            active waiting 04-19..04-22 on
            active closed 04-22..05-20 off
            """
        )
    }

    @Test
    func `Apple's limits on extensions do not apply here, and a failed extension moves nothing`()
        throws
    {
        // Apple's data: trap 45
        let tables = """

            ---
            paid basic 03-20..12-24 open
            active 03-20..12-24
            --- renewal_states
            active waiting 03-20..12-24
            --- plan_changes
            --- refunds
            --- transactions
            basic 03-20..12-24 n=1 paid=1
            --- movements
            03-20 paid_start basic "Subscribe"
            04-01 extension basic
            04-02 extension basic
            04-03 extension basic
            """
        let thrice = """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-01 purchase basic 03-20..08-01 woli=1
            @04-02 purchase basic 03-20..11-01 woli=1
            @04-03 purchase basic 03-20..12-24 woli=1
            """
        try expect(thrice + tables)
        try expect(
            thrice + """

                @04-04 notice RENEWAL_EXTENSION FAILURE uuid=n1 status=1 about=03-20
                @04-05 notice RENEWAL_EXTENSION SUMMARY uuid=n2
                @04-06 notice SOMETHING_NEW uuid=n3 status=1 about=03-20
                """ + tables
        )
    }
}
