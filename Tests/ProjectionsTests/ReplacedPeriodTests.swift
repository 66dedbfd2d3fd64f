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

    // Apple dates money for the rest of a period within seconds of the purchase that replaced it,
    // before or after (Apple's data: traps 9, 43).
    @Test func `money for the rest of a period says the same in every table`() throws {
        for (revoked, timing) in [("04-10T00:00:02", "current"), ("04-10T00:00:31", "older")] {
            try expect(
                """
                @04-10T00:01 purchase basic 04-01..05-01 woli=1 price=9000 revoked=\(revoked)
                @04-10T00:01 purchase basic 04-10T00:00:30..05-10 woli=2 price=9000 reason=PURCHASE
                ---
                paid basic 04-01..04-10T00:00:30 replaced
                paid basic 04-10T00:00:30..05-10 open
                active 04-01..05-10
                --- refunds
                refunded replaced \(timing) basic 04-01 revoked=\(revoked) told=04-10T00:01:00 \
                ?/9000 net
                --- movements
                04-01 paid_start basic 9000 "Subscribe"
                04-10T00:00:30 renewal basic 9000 "Renew"
                """
            )
        }
    }

    @Test func `a full refund within a minute of the next purchase is one in every table`() throws {
        try expect(
            """
            @04-10T00:01 purchase basic 04-01..05-01 woli=1 price=9000 revoked=04-10T00:00:02 \
            type=REFUND_FULL
            @04-10T00:01 purchase basic 04-10T00:00:30..05-10 woli=2 price=9000 reason=PURCHASE
            ---
            paid basic 04-01..04-10T00:00:02 refunded
            paid basic 04-10T00:00:30..05-10 open
            active 04-01..04-10T00:00:02 04-10T00:00:30..05-10
            --- refunds
            refunded full current basic 04-01 revoked=04-10T00:00:02 told=04-10T00:01:00 \
            9000/9000 net
            --- movements
            04-01 paid_start basic 9000 "Subscribe"
            04-10T00:00:02 exit_refund basic -9000 "Refund"
            04-10T00:00:30 paid_start basic 9000 again "Reactivate"
            """
        )
    }
}
