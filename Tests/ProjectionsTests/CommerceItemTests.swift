import Events
import Projections
import Testing

/// Items of Advanced Commerce purchases, and refunds for which Apple signs no amount.
@Suite struct CommerceItemTests {
    @Test func `an Advanced Commerce period shows its items by SKU, display name and price`()
        throws
    {
        let items =
            #"extra={"advancedCommerceInfo":{"items":[{"SKU":"a","displayName":"One","price":6000},"#
            + #"{"SKU":"b","price":3990}],"period":"P1M"}}"#
        try expect(
            """
            @03-20 purchase bundle 03-20..04-20 woli=1 price=9990 \(items)
            ---
            paid bundle 03-20..04-20 open item=a/One/6000 item=b//3990
            active 03-20..04-20
            """
        )
    }

    @Test func `an immediate upgrade has an estimated refund, which is not in any sum`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..03-31 woli=1 price=9000 currency=EUR
            @03-11 purchase basic 03-01..03-31 woli=1 price=9000 currency=EUR upgraded
            @03-11 purchase premium 03-11..04-11 woli=2 price=20000 currency=EUR
            --- plan_changes
            effective now upgrade basic..premium effective=03-11 same estimate=6000EUR
            --- refunds
            --- movements
            03-01 paid_start basic 9000 "Subscribe"
            03-11 renewal premium was=basic 20000 "Upgrade"
            03-11 exit_plan_change basic
            """
        )
    }

    @Test func `a refund with a signed percentage is not estimated`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..03-31 woli=1 price=9000 revoked=03-11T00:00:02 \
            type=REFUND_PRORATED percentage=50000
            @03-11 purchase premium 03-11..04-11 woli=2 price=20000
            --- plan_changes
            effective now upgrade basic..premium effective=03-11 same
            """
        )
    }
}
