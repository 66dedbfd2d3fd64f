import Events
import Projections
import Testing
import TestSupport

/// The scenarios in order, each with facts in the format that carried them (Apple's data:
/// scenarios).
@Suite struct ScenarioTests {
    @Test func `1: two rows, the newer first, are one run of two periods`() throws {
        // Apple's data: scenario 1. A published response of verifyReceipt.
        try expect(
            """
            @2015-07-09T08:30 purchase std 2015-07-09T08:19:17..2015-07-09T08:24:17 \
            id=900200162803342 via=response
            @2015-07-09T08:30 purchase std 2015-07-09T08:14:17..2015-07-09T08:19:17 \
            id=4500000152802828 via=response
            ---
            paid std 2015-07-09T08:14:17..2015-07-09T08:19:17 expired
            paid std 2015-07-09T08:19:17..2015-07-09T08:24:17 expired
            active 2015-07-09T08:14:17..2015-07-09T08:24:17
            --- transactions
            std 2015-07-09T08:14:17..2015-07-09T08:19:17 n=1 paid=1
            std 2015-07-09T08:19:17..2015-07-09T08:24:17 n=2 paid=2
            """
        )
    }

    @Test func `2: a restored period is one period with two ids`() throws {
        // Apple's data: scenario 2
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 id=T1
            @03-25 purchase basic 03-20..04-20 id=T2
            ---
            paid basic 03-20..04-20 open
            active 03-20..04-20
            --- transactions
            basic 03-20..04-20 n=1 paid=1
            """
        )
        #expect(ledger.events.count == 1)
        let purchases = ledger.timeline(of: TimelineText.stream).purchases
        #expect(purchases.map(\.transactionIds) == [["T1", "T2"]])
    }

    @Test func `3: milliseconds of iOS 6 do not create a second period`() throws {
        // Apple's data: scenario 3. A published `receipt` and `latest_receipt_info`.
        let (from, to) = ("2012-09-11T23:15:05", "2012-12-12T00:15:05")
        let ledger = try expect(
            """
            @2012-09-12 purchase premium3 \(from).612Z..\(to).612Z id=1 woli=7 via=single
            @2012-09-12 purchase premium3 \(from).000Z..\(to).000Z id=1 woli=7 via=single
            ---
            paid premium3 \(from)..\(to) open
            active \(from)..\(to)
            """
        )
        #expect(ledger.events.count == 1)
    }

    @Test func `4: basic until premium starts, an upgrade, and no refund of a whole period`()
        throws
    {
        // Apple's data: scenario 4.
        try expect(
            """
            @04-23T10:00 purchase premium 04-23T09:00..05-23T09:00 woli=3 via=response
            @04-23T10:00 purchase basic 04-14..05-14 woli=2 revoked=04-23T09:00:02 via=response
            @04-23T10:00 purchase basic 03-14..04-14 woli=1 via=response
            --- plan_changes
            effective now upgrade basic..premium effective=04-23T09:00:00 same
            --- refunds
            refunded replaced older basic 04-14 revoked=04-23T09:00:02 told=04-23T10:00:00 net
            --- movements
            03-14 paid_start basic "Subscribe"
            04-14 renewal basic "Renew"
            04-23T09:00:00 renewal premium was=basic "Upgrade"
            04-23T09:00:00 exit_plan_change basic
            ---
            paid basic 03-14..04-14 expired
            paid basic 04-14..04-23T09:00:00 upgraded
            paid premium 04-23T09:00:00..05-23T09:00:00 open
            active 03-14..05-23T09:00:00
            """
        )
    }

    @Test func `5: after a refunded upgrade the upgraded period is never restored`() throws {
        // Apple's data: scenario 5.
        let (a, b) = ("2020-12-05T13:44:41", "2020-12-05T14:05:19")
        let before = """
            @2020-12-06 purchase a \(a)..2021-12-05 woli=1 upgraded via=response
            @2020-12-06 purchase b \(b)..2021-12-05 woli=2 via=response
            """
        try expect(
            before + """

                ---
                paid a \(a)..\(b) upgraded
                paid b \(b)..2021-12-05 open
                active \(a)..2021-12-05
                """
        )
        try expect(
            before + """

                @2020-12-11 purchase a \(a)..2021-12-05 woli=1 upgraded via=response
                @2020-12-11 purchase b \(b)..2021-12-05 woli=2 revoked=2020-12-10 because=0 \
                via=response
                ---
                paid a \(a)..\(b) upgraded
                paid b \(b)..2020-12-10 refunded
                active \(a)..2020-12-10
                """
        )
    }

    @Test func `6: the magazine unlocks February, March, April, June and July`() throws {
        // Apple's data: scenario 6, magazine rule
        let customer = try CustomerText(
            """
            stream 1
            @06-18 purchase monthly 02-20..03-20 via=receipt
            @06-18 purchase monthly 03-20..04-20 via=receipt
            @06-18 purchase monthly 06-17..07-17 via=receipt
            """
        )
        let issues = try ["02", "03", "04", "05", "06", "07"].map {
            Issue(name: $0, publishedAt: try TimelineText.instant("\($0)-01"))
        }
        let access = ContentAccess(
            Entitlement(customer.timelines),
            issues: issues,
            at: try TimelineText.instant("07-02")
        )
        let unlocked = access.issues.filter { $0.unlocked != nil }.map(\.issue.name)
        #expect(unlocked == ["02", "03", "04", "06", "07"])
    }

    @Test func `7: a charge that failed and succeeded in retry leaves a gap`() throws {
        // Apple's data: scenario 7
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW uuid=n1 status=3
            @04-20 renewal of=04-20 auto=1 retry
            @05-05 notice DID_RENEW BILLING_RECOVERY uuid=n2 status=1 about=05-05
            @05-05 purchase basic 05-05..06-05 woli=2 reason=RENEWAL
            @05-05 renewal of=06-05 auto=1
            --- movements
            03-20 paid_start basic "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            05-05 renewal basic "Renewal from Billing Retry"
            05-05 billing_issue_recovered basic
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..05-05 on
            active waiting 05-05..06-05 on
            ---
            paid basic 03-20..04-20 expired because=billing
            paid basic 05-05..06-05 open
            active 03-20..04-20 05-05..06-05
            """
        )
    }

    @Test func `8: a recovery in grace leaves neither a gap nor a rest of grace`() throws {
        // Apple's data: scenario 8
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-01 notice DID_RENEW BILLING_RECOVERY uuid=n2 status=1 about=04-20
            @05-01 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
            @05-01 renewal of=05-20 auto=1
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `9: an unpaid grace gives access only until its end`() throws {
        // Apple's data: scenario 9
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-06 notice GRACE_PERIOD_EXPIRED uuid=n2 status=3
            @05-06 renewal of=04-20 grace=05-06 auto=1 retry
            @06-19 notice EXPIRED BILLING_RETRY uuid=n3 status=2
            @06-19 renewal of=04-20 grace=05-06 auto=0 intent=2
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..05-06 on
            billing_retry failed 05-06..06-19 on
            expired closed 06-19.. off because=billing
            ---
            paid basic 03-20..04-20 expired
            grace basic 04-20..05-06 expired because=billing
            active 03-20..05-06
            """
        )
    }

    @Test func `10: May was refunded and restored while June ran`() throws {
        // Apple's data: scenario 10
        let refunded = """
            @05-01 purchase basic 05-01..06-01 woli=1
            @06-01 purchase basic 06-01..07-01 woli=2 reason=RENEWAL
            @06-10 notice REFUND uuid=n1 status=1 about=05-01
            @06-10 purchase basic 05-01..06-01 woli=1 revoked=05-20
            """
        let june = "paid basic 06-01..07-01 open"
        try expect(
            refunded + """

                --- refunds
                refunded untyped current basic 05-01 revoked=05-20 told=06-10 net
                ---
                paid basic 05-01..05-20 refunded
                \(june)
                active 05-01..05-20 06-01..07-01
                """
        )
        try expect(
            refunded + """

                @06-12 notice REFUND_REVERSED uuid=n2 status=1 about=05-01
                @06-12 purchase basic 05-01..06-01 woli=1
                --- refunds
                reversed untyped current basic 05-01 revoked=05-20 told=06-10 announced=06-12 net
                ---
                paid basic 05-01..06-01 expired
                \(june)
                active 05-01..07-01
                """
        )
    }
}
