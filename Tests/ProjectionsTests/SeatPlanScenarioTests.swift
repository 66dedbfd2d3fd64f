import Projections
import Testing

/// The number of seats as a change of plan (Apple's data: seats).
struct SeatPlanScenarioTests {
    @Test func `fewer seats are requested, and take effect at the renewal`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=12x1000
            @03-10 renewal of=04-01 auto=1 product=basic next=basic next-seats=6x1100
            @03-10 notice DID_CHANGE_RENEWAL_PREF DECREASE_QUANTITY uuid=n1 about=03-01..04-01
            @04-01 purchase basic 04-01..05-01 woli=2 seats=6x1100 reason=RENEWAL
            --- plan_changes
            effective next_renewal plan_change basic..basic requested=03-10 effective=04-01 \
            seats=12..6
            --- renewal_states
            active waiting 03-01..03-10
            active waiting 03-10..05-01 on next=basic price=1100EUR seats=6/6600
            """
        )
    }

    @Test func `a request for fewer seats is withdrawn by the old number`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=12x1000
            @03-10 renewal of=04-01 auto=1 product=basic next=basic next-seats=6x1000
            @03-12 renewal of=04-01 auto=1 product=basic next=basic next-seats=12x1000
            --- plan_changes
            withdrawn next_renewal plan_change basic..basic requested=03-10 withdrawn=03-12 \
            seats=12..6
            """
        )
    }

    @Test func `added seats are a change at once, which refunds nothing`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 woli=2 seats=4x500 added
            @03-11 renewal of=04-01 auto=1 product=basic next=basic next-seats=12x1000
            @04-01 purchase basic 04-01..05-01 woli=3 seats=12x1000 reason=RENEWAL
            --- plan_changes
            effective now plan_change basic..basic effective=03-11 seats=8..12
            """
        )
    }

    @Test func `a decrease at the renewal, then a refund of seats, are two different things`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=12x1000
            @03-10 renewal of=04-01 auto=1 product=basic next=basic next-seats=6x1000
            @04-01 purchase basic 04-01..05-01 woli=2 seats=6x1000 reason=RENEWAL
            @04-10 purchase basic 04-01..05-01 woli=2 seats=6x1000 reason=RENEWAL taken=2
            @04-10 notice REFUND SEATS uuid=n1 about=04-01..05-01
            ---
            paid basic 03-01..04-01 expired seats=12
            paid basic 04-01..05-01 open seats=4
            active 03-01..05-01
            --- plan_changes
            effective next_renewal plan_change basic..basic requested=03-10 effective=04-01 \
            seats=12..6
            --- refunds
            refunded seats basic 04-01 told=04-10 seats=2 2000/6000 net
            """
        )
    }

    @Test func `an upgrade may change the number of seats as well`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=12x1000
            @03-10 purchase premium 03-10..04-10 woli=2 seats=6x2000
            --- plan_changes
            effective now upgrade basic..premium effective=03-10 same estimate=8516EUR seats=12..6
            """
        )
    }

    @Test func `the end of an assignment is known only from Apple's own word about the member`()
        throws
    {
        // The member has a subscription of their own; a notification without it says only that.
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000 assigned
            @03-20 notice REVOKE uuid=n1 about=03-01..04-01 status=5
            ---
            assigned basic 03-01..04-01 open
            active 03-01..04-01
            """
        )
    }
}
