import Events
import Projections
import Testing

/// Traps about changes of product (Apple's data: traps).
@Suite struct TrapTestsOfChange {
    @Test func `an old receipt cancels an upgraded period, a newer one only marks it`() throws {
        // Apple's data: trap 9
        let premium = "@04-23T10:00 purchase premium 04-23T09:00..05-23T09:00 woli=3 via=response"
        for basic in [
            "@04-23T10:00 purchase basic 04-14..05-14 woli=2 revoked=04-23T09:00:02 via=response",
            "@04-23T10:00 purchase basic 04-14..05-14 woli=2 upgraded via=response",
            "@04-23T10:00 purchase basic 04-14..05-14 woli=2 via=response",
        ] {
            try expect(
                basic + "\n" + premium + """

                    ---
                    paid basic 04-14..04-23T09:00:00 upgraded
                    paid premium 04-23T09:00:00..05-23T09:00:00 open
                    active 04-14..05-23T09:00:00
                    --- plan_changes
                    effective now upgrade basic..premium effective=04-23T09:00:00 same
                    --- movements
                    04-14 paid_start basic "Subscribe"
                    04-23T09:00:00 renewal premium was=basic "Upgrade"
                    04-23T09:00:00 exit_plan_change basic
                    """
            )
        }
    }

    // The catalog decides, not the price or the length; a crossgrade to the same length is
    // immediate.
    @Test(arguments: [
        ("basic", "premium", "04-10", "now upgrade", "same"),
        ("premium", "basic", "05-01", "next_renewal downgrade", "same"),
        ("basic", "video", "04-10", "now crossgrade", "same"),
        ("basic", "annual", "05-01", "next_renewal crossgrade", "other"),
        ("basic", "unheard", "04-10", "now plan_change", ""),
        ("basic", "unheard", "05-01", "next_renewal plan_change", ""),
    ])
    func `the levels of the catalog classify a change`(
        old: String,
        new: String,
        start: String,
        verdict: String,
        length: String
    ) throws {
        // Apple's data: trap 23: an annual plan costs more than a monthly one of the same level.
        let row =
            "effective \(verdict) \(old)..\(new) effective=\(start) \(length)"
            + (verdict.hasPrefix("now") ? " estimate=693" : "")
        try expect(
            """
            @04-01 purchase \(old) 04-01..05-01 woli=1 price=990
            @\(start) purchase \(new) \(start)..12-01 woli=2 price=99000
            --- plan_changes
            \(row)
            """
        )
    }

    @Test func `each switch back and forth refunds the rest, and no refund is counted twice`()
        throws
    {
        // Apple's data: trap 24
        try expect(
            """
            @04-10 purchase basic 04-01..05-01 woli=1 revoked=04-10 price=9000
            @04-10 purchase video 04-10..05-10 woli=2 price=9000
            @04-12 purchase video 04-10..05-10 woli=2 revoked=04-12 price=9000
            @04-12 purchase basic 04-12..05-12 woli=3 price=9000
            ---
            paid basic 04-01..04-10 upgraded
            paid video 04-10..04-12 upgraded
            paid basic 04-12..05-12 open
            active 04-01..05-12
            --- refunds
            refunded replaced older basic 04-01 revoked=04-10 ?/9000 net
            refunded replaced older video 04-10 revoked=04-12 ?/9000 net
            --- transactions
            basic 04-01..05-01 until=04-10 n=1 paid=1 ?/9000
            video 04-10..05-10 until=04-12 n=2 paid=2 crossgrade from=basic ?/9000
            basic 04-12..05-12 n=3 paid=3 crossgrade from=video 9000/9000
            """
        )
    }

    @Test func `the product that renews next is not the one that is paid for`() throws {
        // Apple's data: trap 25
        try expect(
            """
            @04-01 purchase premium 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=premium next=basic
            ---
            paid premium 04-01..05-01 open
            active 04-01..05-01
            --- renewal_states
            active waiting 04-01..04-10
            active waiting 04-10..05-01 on next=basic
            --- plan_changes
            requested next_renewal downgrade premium..basic requested=04-10 same
            --- transactions
            premium 04-01..05-01 n=1 paid=1
            """
        )
        // After an immediate upgrade both are the new one, and nothing is requested.
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 purchase basic 04-01..05-01 woli=1 upgraded
            @04-10 purchase premium 04-10..05-10 woli=2
            @04-10 renewal of=05-10 auto=1 product=premium next=premium
            --- plan_changes
            effective now upgrade basic..premium effective=04-10 same
            """
        )
    }

    @Test func `an upgraded period is over although its expiry is in the future`() throws {
        // Apple's data: trap 26
        try expect(
            """
            @12-01 purchase annual 12-01..2027-12-01 woli=1
            @12-05 purchase annual 12-01..2027-12-01 woli=1 upgraded
            @12-05 purchase premium 12-05..2027-01-05 woli=2
            @2027-02-01 renewal of=2027-01-05 auto=0 intent=1
            ---
            paid annual 12-01..12-05 upgraded
            paid premium 12-05..2027-01-05 expired because=customer
            active 12-01..2027-01-05
            --- renewal_states
            active waiting 12-01..2027-01-05
            expired closed 2027-01-05..2027-02-01 because=customer
            expired closed 2027-02-01.. off because=customer
            """
        )
    }

    @Test func `after the refund of an upgrade nothing is left and nothing returns`() throws {
        // Apple's data: trap 27
        try expect(
            """
            @12-05T14:10 purchase basic 12-05..12-25 woli=1 upgraded
            @12-05T14:10 purchase premium 12-05T14:05..12-30 woli=2 price=19990
            @12-11 purchase premium 12-05T14:05..12-30 woli=2 revoked=12-10 price=19990
            ---
            paid basic 12-05..12-05T14:05:00 upgraded
            paid premium 12-05T14:05:00..12-10 refunded
            active 12-05..12-10
            --- renewal_states
            active waiting 12-05..12-10
            revoked closed 12-10..
            --- plan_changes
            effective now upgrade basic..premium effective=12-05T14:05:00 same
            """
        )
    }

    @Test func `an upgrade in the second of a renewal is the purchase that stays`() throws {
        // Apple's data: trap 40
        try expect(
            """
            @04-20T01:00 purchase basic 03-20..04-20 woli=1
            @04-20T01:00 purchase basic 04-20..05-20 woli=9 upgraded
            @04-20T01:00 purchase premium 04-20..05-20 woli=10
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..04-20 upgraded
            paid premium 04-20..05-20 open
            active 03-20..05-20
            --- plan_changes
            effective now upgrade basic..premium effective=04-20 same
            """
        )
    }

    @Test func `a redeemed offer is a new period, or only the terms of the next one`() throws {
        // Apple's data: trap 43
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 notice OFFER_REDEEMED UPGRADE uuid=n1 status=1 about=04-10
            @04-10 purchase premium 04-10..05-10 woli=2 offer=3
            ---
            paid basic 04-01..04-10 upgraded
            offer premium 04-10..05-10 open
            active 04-01..05-10
            --- plan_changes
            effective now upgrade basic..premium effective=04-10 same offer=3
            """
        )
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 notice OFFER_REDEEMED uuid=n1 status=1 about=04-01
            @04-10 renewal of=05-01 auto=1 product=basic next=basic offer=3
            @05-01 purchase basic 05-01..06-01 woli=2 offer=3 reason=RENEWAL
            ---
            paid basic 04-01..05-01 expired
            offer basic 05-01..06-01 open
            active 04-01..06-01
            --- plan_changes
            --- movements
            04-01 paid_start basic "Subscribe"
            05-01 offer_start basic
            """
        )
    }
}
