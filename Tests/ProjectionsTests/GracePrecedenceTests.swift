import Events
import Projections
import Testing

/// What ends a grace if several of Apple's statements could (Apple's data: status values, trap 22).
@Suite struct GracePrecedenceTests {
    private let grace = """
        @03-20 purchase monthly 03-20..04-20 woli=1
        @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
        @04-20 renewal of=04-20 grace=05-06 auto=1 retry
        """

    @Test func `a refund in grace ends it and revokes the subscription`() throws {
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

    @Test func `family sharing that stops in grace ends the grace`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1 family
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-25 purchase monthly 03-20..04-20 woli=1 family revoked=04-24
            ---
            family monthly 03-20..04-20 expired
            grace monthly 04-20..04-24 revoked
            active 03-20..04-24
            """
        )
    }

    @Test func `the reversal of a refund in grace restores the grace`() throws {
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

    @Test func `a refund after the grace does not change it`() throws {
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

    @Test func `auto-renewal off ends a grace unless Apple's status still says grace`()
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

    @Test func `an earlier status does not override a later statement`() throws {
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

    @Test func `a later statement that it is over ends the grace at that time`() throws {
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
