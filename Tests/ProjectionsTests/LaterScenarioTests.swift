import Events
import Projections
import Testing
import TestSupport

/// The second half of the scenarios, in their order (Apple's data: scenarios).
@Suite struct LaterScenarioTests {
    @Test func `11: an extended renewal date is one longer period`() throws {
        // Apple's data: scenario 11
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=7 id=T1
            @04-10 notice RENEWAL_EXTENDED uuid=n1 status=1 about=03-20
            @04-10 purchase basic 03-20..05-04 woli=7 id=T1
            --- movements
            03-20 paid_start basic "Subscribe"
            04-10 extension basic
            ---
            paid basic 03-20..05-04 open
            active 03-20..05-04
            """
        )
    }

    @Test func `12: a withdrawn downgrade is not a change of product`() throws {
        // Apple's data: scenario 12
        try expect(
            """
            @04-01 purchase premium 04-01..05-01 woli=1
            @04-10 notice DID_CHANGE_RENEWAL_PREF DOWNGRADE uuid=n1 status=1
            @04-10 renewal of=05-01 auto=1 product=premium next=basic
            @04-12 notice DID_CHANGE_RENEWAL_PREF uuid=n2 status=1
            @04-12 renewal of=05-01 auto=1 product=premium next=premium
            @05-01 purchase premium 05-01..06-01 woli=2 reason=RENEWAL
            --- movements
            04-01 paid_start premium "Subscribe"
            04-10 plan_change_scheduled basic was=premium
            04-12 plan_change_cancelled basic was=premium
            05-01 renewal premium "Renew"
            --- plan_changes
            withdrawn next_renewal downgrade premium..basic requested=04-10 withdrawn=04-12 same
            """
        )
    }

    @Test func `13: the retry of a notification is not a second event`() throws {
        // Apple's data: scenario 13: the same UUID, the same bytes.
        let ledger = try expect(
            """
            @04-02 notice REFUND_DECLINED uuid=n1 status=1 about=03-20
            @04-02 purchase basic 03-20..04-20 woli=1
            @04-02 notice REFUND_DECLINED uuid=n1 status=1 about=03-20
            @04-02 purchase basic 03-20..04-20 woli=1
            --- movements
            03-20 paid_start basic "Subscribe"
            04-02 refund_declined basic
            ---
            paid basic 03-20..04-20 open
            active 03-20..04-20
            """
        )
        #expect(ledger.events.count == 2)
    }

    @Test
    func `14: a payload signed first that arrives last changes the history but not the state`()
        throws
    {
        // Apple's data: scenario 14
        try expect(
            """
            @04-20 notice DID_RENEW uuid=n3 status=1 about=04-20
            @04-20 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
            @04-20 renewal of=05-20 auto=1
            @04-01 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n1 status=1
            @04-01 purchase basic 03-20..04-20 woli=1
            @04-01 renewal of=04-20 auto=0
            --- renewal_states
            active waiting 03-20..04-01
            active closed 04-01..04-20 off
            active waiting 04-20..05-20 on
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `15: the end of a retry does not end a subscription bought meanwhile`() throws {
        // Apple's data: scenario 15.
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase basic 03-20..04-20 group=g
            @04-20 notice DID_FAIL_TO_RENEW uuid=n1 status=3
            @04-20 renewal of=04-20 auto=1 retry
            @06-19 notice EXPIRED BILLING_RETRY uuid=n2 status=2
            @06-19 renewal of=04-20 auto=0 intent=2
            stream 2
            @05-02 purchase premium 05-02..06-02 group=g
            @06-02 purchase premium 06-02..07-02 group=g
            """
        )
        let entitlement = Entitlement(customer.timelines)
        #expect(entitlement.texts() == ["03-20..04-20", "05-02..07-02"])
        #expect(try entitlement.active(at: "06-20") == ["g: premium of 2"])
        let first = try #require(customer.timelines.first)
        #expect(
            describe(RenewalStates(first)) == [
                "active waiting 03-20..04-20", "billing_retry failed 04-20..06-19 on",
                "expired closed 06-19.. off because=billing",
            ]
        )
    }

    @Test func `16: a consumable is in the log but not in any period`() throws {
        // Apple's data: scenario 16
        let ledger = try expect(
            """
            @05-02 once coins 05-01 quantity=2 price=1980 id=1
            @05-02 once coins 05-02 quantity=2 price=1980 id=2
            --- transactions
            coins 05-01.. 1980/1980
            coins 05-02.. 1980/1980
            --- renewal_states
            ---
            active
            """
        )
        #expect(ledger.events.count == 2)
        let rows = TransactionRows(ledger.timeline(of: TimelineText.stream), .magazines).rows
        #expect(rows.map(\.terms.quantity) == [2, 2])
    }

    @Test func `17: a receipt with two original ids describes two subscriptions`() throws {
        // Apple's data: scenario 17: the rows of one `unified_receipt` after translation.
        let customer = try CustomerText(
            """
            stream 1
            @03-21 purchase lite 03-20..04-20 group=lite via=response
            @03-21 renewal of=04-20 auto=1 product=lite via=pending
            stream 2
            @03-21 purchase standard 03-10..04-10 group=standard via=response
            @03-21 renewal of=04-10 auto=0 product=standard via=pending
            """
        )
        let rows = customer.timelines.map { describe(RenewalStates($0)) }
        #expect(
            rows == [
                ["active waiting 03-20..03-21", "active waiting 03-21..04-20 on"],
                ["active waiting 03-10..03-21", "active closed 03-21..04-10 off"],
            ]
        )
        #expect(Entitlement(customer.timelines).texts() == ["03-10..04-20"])
    }

    @Test func `18: equal ids of Sandbox and Production are two subscriptions`() throws {
        // Apple's data: scenario 18
        let customer = try CustomerText(
            """
            stream 1 Sandbox
            @03-20 purchase basic 03-20..03-21 woli=1 id=1
            stream 1
            @03-20 purchase basic 03-20..04-20 woli=1 id=1
            """
        )
        let rows = customer.timelines.map { describe(ActivePeriods($0)) }
        #expect(customer.timelines.map(\.stream.environment) == [.production, .sandbox])
        #expect(
            rows == [
                ["paid basic 03-20..04-20 open", "active 03-20..04-20"],
                ["paid basic 03-20..03-21 open", "active 03-20..03-21"],
            ]
        )
    }
}
