import Events
import Projections
import Testing

/// What counts in the books, with Apple's names (Apple's data: report events, scenarios).
@Suite struct MovementScenarioTests {
    @Test func `a trial converts, renews, and is cancelled at its end`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..03-27 woli=1 offer=1 discount=FREE_TRIAL price=0
            @03-27 purchase basic 03-27..04-27 woli=2 price=9990 reason=RENEWAL
            @04-27 purchase basic 04-27..05-27 woli=3 price=9990 reason=RENEWAL
            @05-01 renewal of=05-27 auto=0
            @05-27 notice EXPIRED VOLUNTARY uuid=n1 status=2
            @05-27 renewal of=05-27 auto=0 intent=1
            --- movements
            03-20 offer_start basic 0 "Start Introductory Offer"
            03-27 conversion basic 9990 "Paid Subscription from Introductory Offer"
            04-27 renewal basic 9990 "Renew"
            05-01 auto_renew_off basic
            05-27 churn_voluntary basic because=customer "Cancel"
            """
        )
    }

    @Test func `a failed charge, grace, retry and recovery`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990 reason=PURCHASE
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-06 notice GRACE_PERIOD_EXPIRED uuid=n2 status=3
            @05-06 renewal of=04-20 grace=05-06 auto=1 retry
            @05-10 purchase basic 05-10..06-10 woli=2 price=9990 reason=RENEWAL
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 billing_issue_entered basic "Grace Period from Paid Subscription"
            05-06 billing_issue_entered basic "Billing Retry from Paid Subscription"
            05-10 renewal basic 9990 "Renewal from Billing Retry"
            05-10 billing_issue_recovered basic
            """
        )
    }

    @Test func `a retry in vain is involuntary, cancelling in it is not`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=1 retry
            @06-19 renewal of=04-20 auto=0 intent=2
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            06-19 churn_involuntary basic because=billing "Canceled from Billing Retry"
            06-19 auto_renew_off basic
            """
        )
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=1 retry
            @04-28 renewal of=04-20 auto=0 intent=1
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            04-28 churn_voluntary basic because=customer "Canceled from Billing Retry"
            04-28 auto_renew_off basic
            """
        )
    }

    @Test func `an end without a stated reason`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @06-01 purchase basic 06-01..07-01 woli=2 price=9990 reason=PURCHASE
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 churn_unknown basic "Cancel"
            06-01 paid_start basic 9990 again "Reactivate"
            """
        )
    }

    @Test func `no consent to a price increase is told after the end, and is no voluntary churn`()
        throws
    {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20T00:05 renewal of=04-20 auto=1 intent=3
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 churn_price_increase basic because=price_increase "Cancel"
            """
        )
    }

    @Test func `an upgrade at once, a wish withdrawn, and a downgrade at the renewal`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @03-25 purchase basic 03-20..04-20 woli=1 upgraded
            @03-25 purchase premium 03-25..04-25 woli=2 price=19990 reason=PURCHASE
            @03-25 renewal of=04-25 auto=1 product=premium next=premium
            @04-01 renewal of=04-25 auto=1 product=premium next=premium2
            @04-05 renewal of=04-25 auto=1 product=premium next=premium
            @04-10 renewal of=04-25 auto=1 product=premium next=basic
            @04-25 purchase basic 04-25..05-25 woli=3 price=9990 reason=RENEWAL
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            03-25 renewal premium was=basic 19990 "Upgrade"
            03-25 exit_plan_change basic
            04-01 plan_change_scheduled premium2 was=premium
            04-05 plan_change_cancelled premium2 was=premium
            04-10 plan_change_scheduled basic was=premium
            04-25 renewal basic was=premium 9990 "Downgrade"
            04-25 exit_plan_change premium
            """
        )
    }

    @Test func `coming back to a higher level is a reactivation with upgrade`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=0 intent=1
            @06-01 purchase premium 06-01..07-01 woli=2 price=19990 reason=PURCHASE
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 churn_voluntary basic because=customer "Cancel"
            04-20 auto_renew_off basic
            06-01 paid_start premium was=basic 19990 again "Reactivate with Upgrade"
            """
        )
    }

    @Test func `a refund takes the money, its reversal brings it back`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-01 purchase basic 03-20..04-20 woli=1 price=9990 revoked=03-31
            @04-10 notice REFUND_REVERSED uuid=n1 about=03-20
            @04-10 purchase basic 03-20..04-20 woli=1 price=9990
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            03-31 exit_refund basic -9990 "Refund"
            04-10 refund_reversed basic 9990
            """
        )
    }

    @Test func `the least price of all, given back, is the greatest`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=-9223372036854775808
            @04-01 purchase basic 03-20..04-20 woli=1 price=-9223372036854775808 revoked=03-31
            --- movements
            03-20 paid_start basic -9223372036854775808 "Subscribe"
            03-31 exit_refund basic 9223372036854775807 "Refund"
            """
        )
    }

    @Test func `a family member brings no money and loses none`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 family
            @04-01 purchase basic 03-20..04-20 woli=1 family revoked=03-31
            --- movements
            03-20 paid_start basic 0 family "Subscribe"
            03-31 family_revoke basic 0 family
            """
        )
    }

    @Test func `an extension, and what is bought once`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-01 purchase basic 03-20..05-04 woli=1 price=9990
            @04-02 once coins 04-02 price=990
            @05-04 notice EXPIRED VOLUNTARY uuid=n1 status=2
            @05-04 renewal of=05-04 auto=0 intent=1
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-01 extension basic
            04-02 one_time_purchase coins 990
            05-04 churn_voluntary basic because=customer "Canceled After Renewal Extension"
            05-04 auto_renew_off basic
            """
        )
    }

    @Test func `offers follow on offers`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 offer=1 discount=PAY_AS_YOU_GO price=990
            @04-20 purchase basic 04-20..05-20 woli=2 offer=1 discount=PAY_AS_YOU_GO price=990
            @05-20 purchase basic 05-20..06-20 woli=3 offer=2 price=4990
            @06-20 purchase premium 06-20..07-20 woli=4 price=19990
            --- movements
            03-20 offer_start basic 990 "Start Introductory Offer"
            04-20 offer_renewal basic 990 "Introductory Offer from Introductory Offer"
            05-20 offer_start basic 4990
            06-20 conversion premium was=basic 19990 "Upgrade from Promotional Offer"
            06-20 exit_plan_change basic
            """
        )
    }

    @Test func `an offer of one name for another product is another offer`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 offer=2 price=990
            @04-20 purchase premium 04-20..05-20 woli=2 offer=2 price=1990 reason=RENEWAL
            --- movements
            03-20 offer_start basic 990 "Start Promotional Offer"
            04-20 offer_start premium was=basic 1990
            04-20 exit_plan_change basic
            """
        )
    }

    @Test func `auto-renewal off before the end is voluntary churn, with any intent`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-01 renewal of=04-20 auto=0
            @04-21 renewal of=04-20 auto=0 intent=2
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-01 auto_renew_off basic
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            04-21 churn_voluntary basic because=billing "Canceled from Billing Retry"
            """
        )
    }
}
