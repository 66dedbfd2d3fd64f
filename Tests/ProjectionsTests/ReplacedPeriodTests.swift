import Events
import Projections
import Testing

/// Periods that a new purchase of the same product ends.
@Suite struct ReplacedPeriodTests {
    @Test func `a period that a new purchase of its product ends is replaced, not expired`() throws
    {
        // A downgrade that is withdrawn may come with a new transaction
        // (https://developer.apple.com/forums/tags/storekit, October 2024).
        try expect(
            """
            @04-01 purchase annual 04-01..06-01 woli=1 reason=PURCHASE
            @04-10 renewal of=06-01 auto=1 product=annual next=basic
            @05-01 purchase annual 05-01..07-01 woli=2 reason=PURCHASE
            @05-01 renewal of=07-01 auto=1 product=annual next=annual
            ---
            paid annual 04-01..05-01 replaced
            paid annual 05-01..07-01 open
            active 04-01..07-01
            """
        )
    }

    @Test func `an offer code redeemed in a period replaces the rest of it`() throws {
        // Apple's data: trap 43
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 price=9000
            @04-10 purchase basic 04-10..06-10 woli=2 offer=3 price=0
            @04-10 notice OFFER_REDEEMED uuid=n1 status=1 about=04-10
            ---
            paid basic 04-01..04-10 replaced
            offer basic 04-10..06-10 open
            active 04-01..06-10
            """
        )
    }

    @Test func `a refund before the new purchase ends the period, and one within seconds does not`()
        throws
    {
        for (revoked, row) in [
            ("04-05", "paid basic 04-01..04-05 refunded"),
            ("04-10T00:00:02", "paid basic 04-01..04-10 replaced"),
        ] {
            try expect(
                """
                @04-10 purchase basic 04-01..05-01 woli=1 revoked=\(revoked)
                @04-10 purchase basic 04-10..05-10 woli=2
                ---
                \(row)
                paid basic 04-10..05-10 open
                active 04-01..\(revoked == "04-05" ? "04-05 04-10.." : "")05-10
                """
            )
        }
    }
}
