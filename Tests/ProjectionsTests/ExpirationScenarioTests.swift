import Events
import Projections
import Testing

/// The reason why a subscription ended, in Apple's terms, in the tables that give it.
@Suite struct ExpirationScenarioTests {
    @Test(arguments: [
        (1, "customer", "churn_voluntary"), (2, "billing", "churn_involuntary"),
        (3, "price_increase", "churn_price_increase"),
        (4, "product_unavailable", "churn_product_unavailable"), (5, "other", "churn_unknown"),
        (6, "unbundled", "churn_voluntary"), (7, "other", "churn_unknown"),
    ])
    func `only the customer's own cancellation is voluntary churn, and tables give the reason`(
        intent: Int,
        reason: String,
        movement: String
    ) throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=1 intent=\(intent)
            ---
            paid basic 03-20..04-20 expired because=\(reason)
            active 03-20..04-20
            --- renewal_states
            active waiting 03-20..04-20
            expired closed 04-20.. on because=\(reason)
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 \(movement) basic because=\(reason) "Cancel"
            """
        )
    }

    @Test
    func `billing ends the access, and a customer who cancels in retry ends the subscription`()
        throws
    {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=1 retry intent=2
            @04-28 renewal of=04-20 auto=0 intent=1
            ---
            paid basic 03-20..04-20 expired because=billing
            active 03-20..04-20
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..04-28 on because=billing
            expired closed 04-28.. off because=customer
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 billing_issue_entered basic "Billing Retry from Paid Subscription"
            04-28 churn_voluntary basic because=customer "Canceled from Billing Retry"
            04-28 auto_renew_off basic
            """
        )
    }

    @Test func `the reason for one end does not apply to the next`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 auto=0 intent=1
            @05-01 purchase basic 05-01..06-01 woli=2 price=9990 reason=PURCHASE
            @06-02 notice EXPIRED uuid=n1 status=2
            ---
            paid basic 03-20..04-20 expired because=customer
            paid basic 05-01..06-01 expired
            active 03-20..04-20 05-01..06-01
            """
        )
    }

    @Test func `a charge recovered in grace gives no end a reason`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry intent=2
            @04-25 purchase basic 04-20..05-20 woli=2 price=9990 reason=RENEWAL
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }
}
