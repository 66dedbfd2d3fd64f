import Events
import Projections
import Testing

/// Rules that are each tested elsewhere, where two of them meet in one life.
@Suite struct CombinedRulesTests {
    private static let refundedEarly = """
        @04-01 purchase basic 04-01..05-01 woli=1
        @04-30T06:00 purchase basic 05-01..06-01 woli=2 reason=RENEWAL
        @04-30T12:00 purchase basic 05-01..06-01 woli=2 reason=RENEWAL revoked=04-30T12:00

        """

    // Apple's data: traps 10, 14, 20
    @Test(arguments: [
        ("@05-01 renewal of=05-01 grace=05-17 auto=1 retry", "05-17"),
        (
            "@05-01 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4 about=04-01..05-01",
            "05-29"
        ),
    ])
    func `a renewal that was refunded before it began does not end the grace`(
        word: String,
        end: String
    )
        throws
    {
        try expect(
            Self.refundedEarly + """
                \(word)
                ---
                paid basic 04-01..05-01 expired
                paid basic 05-01..05-01 refunded
                grace basic 05-01..\(end) open
                active 04-01..\(end)
                """
        )
    }

    @Test func `a purchase in grace that was revoked before it began does not end the grace`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @04-01 renewal of=04-01 grace=04-17 auto=1 retry
            @04-05 purchase premium 04-05..05-05 woli=2 reason=PURCHASE revoked=04-04T23:59:59
            ---
            paid basic 03-01..04-01 expired
            grace basic 04-01..04-17 open
            paid premium 04-05..04-05 refunded
            active 03-01..04-17
            """
        )
    }

    @Test
    func `an upgrade whose added seats are left overtakes, though its first ones are refunded`()
        throws
    {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 seats=8x1000
            @04-30T06:00 purchase basic 05-01..06-01 woli=2 seats=8x1000 reason=RENEWAL
            @04-30T20:00:05 purchase premium 04-30T20:00..05-30T20:00 woli=3 seats=8x2000
            @04-30T21:00:05 purchase premium 04-30T21:00..05-30T20:00 woli=4 seats=2x2000 added
            @04-30T22:00:05 purchase premium 04-30T20:00..05-30T20:00 woli=3 seats=8x2000 added \
            revoked=04-30T22:00 taken=8
            ---
            paid basic 04-01..04-30T20:00:00 upgraded seats=8
            paid premium 04-30T20:00:00..05-30T20:00:00 open seats=2
            paid basic 05-01..05-01 upgraded seats=8
            active 04-01..05-30T20:00:00
            """
        )
    }

    @Test func `a grace announced about added seats follows their period`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 woli=2 seats=4x500 added
            @03-31T23:00 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4 about=03-11..04-01
            ---
            paid basic 03-01..04-01 expired seats=12
            grace basic 04-01..04-29 open seats=12
            active 03-01..04-29
            """
        )
    }

    @Test func `seats refunded of a renewal that is then overtaken count once`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 seats=8x1000
            @04-30T06:00 purchase basic 05-01..06-01 woli=2 seats=8x1000 reason=RENEWAL
            @04-30T08:00 purchase basic 05-01..06-01 woli=2 seats=8x1000 reason=RENEWAL taken=2
            @04-30T20:00 purchase premium 04-30T20:00..05-30T20:00 woli=3 seats=8x2000
            ---
            paid basic 04-01..04-30T20:00:00 upgraded seats=8
            paid premium 04-30T20:00:00..05-30T20:00:00 open seats=8
            paid basic 05-01..05-01 upgraded seats=6
            active 04-01..05-30T20:00:00
            --- movements
            04-01 paid_start basic 8000 seats=8 "Subscribe"
            04-30T08:00:00 exit_refund basic -2000 seats=2 "Refund"
            04-30T20:00:00 renewal premium was=basic 16000 seats=8 "Upgrade"
            04-30T20:00:00 exit_plan_change basic
            05-01 renewal basic 8000 seats=8 "Renew"
            """
        )
    }
}
