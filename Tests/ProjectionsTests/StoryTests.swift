import Events
import Projections
import Testing
import TestSupport

/// Fifteen steps of an indecisive customer, and the rows they leave in every table.
@Suite struct StoryTests {
    // As version 2 notification types (Apple's data: version 2 types): the event, then its
    // transaction and renewal info.
    private static let steps = """
        @01-01 notice SUBSCRIBED INITIAL_BUY uuid=n1 status=1 about=01-01
        @01-01 purchase basic 01-01..02-01 woli=1 price=9990 reason=PURCHASE
        @01-01 renewal of=02-01 auto=1 product=basic next=basic

        @01-31T23:00 notice DID_RENEW uuid=n2 status=1 about=02-01
        @01-31T23:00 purchase basic 02-01..03-01 woli=2 price=9990 reason=RENEWAL
        @01-31T23:00 renewal of=03-01 auto=1 product=basic next=basic

        @02-10 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n3 status=1 about=02-01
        @02-10 renewal of=03-01 auto=0 product=basic next=basic

        @03-01T00:01 notice EXPIRED VOLUNTARY uuid=n4 status=2 about=02-01
        @03-01T00:01 renewal of=03-01 auto=0 product=basic next=basic intent=1

        @03-22 notice SUBSCRIBED RESUBSCRIBE uuid=n5 status=1 about=03-22
        @03-22 purchase basic 03-22..04-22 woli=3 price=9990 reason=PURCHASE
        @03-22 renewal of=04-22 auto=1 product=basic next=basic

        @03-27 notice DID_CHANGE_RENEWAL_PREF UPGRADE uuid=n6 status=1 about=03-27
        @03-27 purchase basic 03-22..04-22 woli=3 price=9990 reason=PURCHASE upgraded
        @03-27 purchase premium 03-27..04-27 woli=4 price=14990 reason=PURCHASE
        @03-27 renewal of=04-27 auto=1 product=premium next=premium

        @03-28 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n7 status=1 about=03-27
        @03-28 renewal of=04-27 auto=0 product=premium next=premium

        @03-29 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED uuid=n8 status=1 about=03-27
        @03-29 renewal of=04-27 auto=1 product=premium next=premium

        @03-30 notice DID_CHANGE_RENEWAL_PREF DOWNGRADE uuid=n9 status=1 about=03-27
        @03-30 renewal of=04-27 auto=1 product=premium next=basic

        @03-31 notice DID_CHANGE_RENEWAL_PREF uuid=n10 status=1 about=03-27
        @03-31 renewal of=04-27 auto=1 product=premium next=premium

        @04-01 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n11 status=1 about=03-27
        @04-01 renewal of=04-27 auto=0 product=premium next=premium

        @04-27T00:01 notice EXPIRED VOLUNTARY uuid=n12 status=2 about=03-27
        @04-27T00:01 renewal of=04-27 auto=0 product=premium next=premium intent=1

        @05-31 notice SUBSCRIBED RESUBSCRIBE uuid=n13 status=1 about=05-31
        @05-31 purchase basic 05-31..06-30 woli=5 price=9990 reason=PURCHASE
        @05-31 renewal of=06-30 auto=1 product=basic next=basic

        @06-01 notice CONSUMPTION_REQUEST uuid=n14 status=1 about=05-31

        @06-02 notice REFUND uuid=n15 status=5 about=05-31
        @06-02 purchase basic 05-31..06-30 woli=5 price=9990 reason=PURCHASE revoked=06-02 \
        because=0 type=REFUND_FULL
        @06-02 renewal of=06-30 auto=0 product=basic next=basic
        """

    @Test func `fifteen steps leave these periods, states and changes`() throws {
        let ledger = try expect(
            Self.steps + """

                ---
                paid basic 01-01..02-01 expired
                paid basic 02-01..03-01 expired because=customer
                paid basic 03-22..03-27 upgraded
                paid premium 03-27..04-27 expired because=customer
                paid basic 05-31..06-02 refunded
                active 01-01..03-01 03-22..04-27 05-31..06-02
                --- renewal_states
                active waiting 01-01..01-31T23:00:00 on next=basic
                active succeeded 01-31T23:00:00..02-01 on next=basic
                active waiting 02-01..02-10 on next=basic
                active closed 02-10..03-01 off next=basic
                expired closed 03-01..03-22 off next=basic because=customer
                active waiting 03-22..03-27 on next=basic
                active waiting 03-27..03-28 on next=premium
                active closed 03-28..03-29 off next=premium
                active waiting 03-29..03-30 on next=premium
                active waiting 03-30..03-31 on next=basic
                active waiting 03-31..04-01 on next=premium
                active closed 04-01..04-27 off next=premium
                expired closed 04-27..05-31 off next=premium because=customer
                active waiting 05-31..06-02 on next=basic
                revoked closed 06-02.. off next=basic
                --- plan_changes
                effective now upgrade basic..premium effective=03-27 same estimate=8379
                withdrawn next_renewal downgrade premium..basic requested=03-30 withdrawn=03-31 same
                effective resubscribe downgrade premium..basic effective=05-31 same
                """
        )
        // Announcements, purchases with later changes to them, renewal infos.
        #expect(ledger.events.count == 15 + 7 + 14)
    }

    @Test func `fifteen steps leave these refunds, transactions and movements`() throws {
        try expect(
            Self.steps + """

                --- refunds
                refunded full current basic 05-31 requested=06-01 revoked=06-02 9990/9990 net
                --- transactions
                basic 01-01..02-01 n=1 paid=1 9990/9990
                basic 02-01..03-01 n=2 paid=2 9990/9990 unsubscribed=02-10
                basic 03-22..04-22 until=03-27 n=1 paid=1 again=1814400 9990/9990 upgraded
                premium 03-27..04-27 n=2 paid=2 upgrade from=basic 14990/14990 unsubscribed=04-01
                basic 05-31..06-30 until=06-02 n=1 paid=1 again=2937600 downgrade from=premium \
                refunded=06-02 0/9990 unsubscribed=06-02
                --- movements
                01-01 paid_start basic 9990 "Subscribe"
                02-01 renewal basic 9990 "Renew"
                02-10 auto_renew_off basic
                03-01 churn_voluntary basic because=customer "Cancel"
                03-22 paid_start basic 9990 again "Reactivate"
                03-27 renewal premium was=basic 14990 "Upgrade"
                03-27 exit_plan_change basic
                03-28 auto_renew_off premium
                03-29 auto_renew_on premium
                03-30 plan_change_scheduled basic was=premium
                03-31 plan_change_cancelled basic was=premium
                04-01 auto_renew_off premium
                04-27 churn_voluntary premium because=customer "Cancel"
                05-31 paid_start basic was=premium 9990 again "Reactivate with Downgrade"
                06-01 refund_requested basic
                06-02 exit_refund basic -9990 "Refund"
                06-02 auto_renew_off basic
                """
        )
    }
}
