import Events
import Projections
import Testing

/// What ends a grace, where several things that Apple says could
/// (Apple's data: status values, trap 22).
@Suite struct GracePrecedenceTests {
    private let grace = """
        @03-20 purchase monthly 03-20..04-20 woli=1
        @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
        @04-20 renewal of=04-20 grace=05-06 auto=1 retry
        """

    @Test func `a refund in grace ends it, and the subscription is revoked`() throws {
        try expect(
            grace + """

                @04-25 notice REFUND uuid=n2 status=5 about=03-20..04-20
                @04-25 purchase monthly 03-20..04-20 woli=1 revoked=04-24
                ---
                paid monthly 03-20..04-20 expired
                grace monthly 04-20..04-24 refunded
                active 03-20..04-24
                --- renewal_states
                active waiting 03-20..04-20
                grace_period failed 04-20..04-24 on
                revoked closed 04-24.. on
                """
        )
    }

    @Test func `a refund dated at the natural expiry leaves no grace`() throws {
        try expect(
            grace + """

                @04-25 purchase monthly 03-20..04-20 woli=1 revoked=04-20
                ---
                paid monthly 03-20..04-20 expired because=billing
                grace monthly 04-20..04-20 refunded
                active 03-20..04-20
                --- renewal_states
                active waiting 03-20..04-20
                revoked closed 04-20.. on
                """
        )
    }

    @Test func `family sharing that stops in grace ends it`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1 family
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-25 purchase monthly 03-20..04-20 woli=1 family revoked=04-24
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..04-24 revoked
            active 03-20..04-24
            """
        )
    }

    @Test func `a refund in grace that is reversed gives the grace back`() throws {
        try expect(
            grace + """

                @04-24 purchase monthly 03-20..04-20 woli=1 revoked=04-24
                @04-28 purchase monthly 03-20..04-20 woli=1
                ---
                paid monthly 03-20..04-20 expired
                grace monthly 04-20..05-06 open
                active 03-20..05-06
                --- active_periods from-reversal
                paid monthly 03-20..04-20 expired
                grace monthly 04-20..04-24 refunded
                grace monthly 04-28..05-06 open
                active 03-20..04-24 04-28..05-06
                """
        )
    }

    @Test func `a refund after the grace changes nothing of it`() throws {
        try expect(
            grace + """

                @05-20 purchase monthly 03-20..04-20 woli=1 revoked=05-15
                ---
                paid monthly 03-20..04-20 expired
                grace monthly 04-20..05-06 expired because=billing
                active 03-20..05-06
                """
        )
    }

    @Test func `auto-renewal off ends a grace, but not where Apple's status still says grace`()
        throws
    {
        let off = """
            @04-25 renewal of=04-20 grace=05-06 auto=0 retry
            """
        let ended = """
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..04-25 expired because=billing
            active 03-20..04-25
            """
        try expect("\(grace)\n\(off)\n\(ended)")
        for status in [2, 3] {
            let notice = "@04-25 notice DID_CHANGE_RENEWAL_STATUS uuid=n2 status=\(status)"
            try expect("\(grace)\n\(notice)\n\(off)\n\(ended)")
        }
        try expect(
            grace + """

                @04-25T00:00:00.100 notice DID_CHANGE_RENEWAL_STATUS uuid=n2 status=4
                \(off)
                ---
                paid monthly 03-20..04-20 expired
                grace monthly 04-20..05-06 open
                active 03-20..05-06
                --- renewal_states
                active waiting 03-20..04-20
                grace_period failed 04-20..04-25 on
                grace_period closed 04-25..05-06 off
                """
        )
    }

    @Test func `a status before the one that speaks of the instant decides nothing`() throws {
        try expect(
            grace + """

                @04-25 renewal of=04-20 grace=05-06 auto=0 retry
                @04-26 notice EXPIRED VOLUNTARY uuid=n2 status=2
                ---
                paid monthly 03-20..04-20 expired
                grace monthly 04-20..04-25 expired because=billing
                active 03-20..04-25
                """
        )
    }

    @Test func `a later word that it is over ends the grace then`() throws {
        try expect(
            grace + """

                @04-25 notice DID_CHANGE_RENEWAL_STATUS uuid=n2 status=4
                @04-25 renewal of=04-20 grace=05-06 auto=0 retry
                @04-27 notice EXPIRED VOLUNTARY uuid=n3 status=2
                @04-27 renewal of=04-20 grace=05-06 auto=0 intent=1
                ---
                paid monthly 03-20..04-20 expired
                grace monthly 04-20..04-27 expired because=customer
                active 03-20..04-27
                """
        )
    }
}
