import Projections
import Testing

/// Multiseat subscriptions: money, members, additions and refunds of seats (Apple's data: seats).
struct SeatScenarioTests {
    @Test func `seats cost the sum of their tiers, not the average price of one`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 seats=8x1000+4x800
            ---
            paid basic 03-01..04-01 open seats=12
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 11200/11200 seats=12/12
            --- movements
            03-01 paid_start basic 11200 seats=12 "Subscribe"
            """
        )
    }

    @Test func `without tiers, seats cost the average price times their number`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 price=990 quantity=5 by=DEVELOPER
            --- transactions
            basic 03-01..04-01 n=1 paid=1 4950/4950 seats=5/5
            """
        )
    }

    @Test func `a one-time purchase of several items costs its price, which Apple multiplied`()
        throws
    {
        try expect(
            """
            @03-01 once coins 03-01 price=2970 quantity=3
            --- transactions
            coins 03-01.. 2970/2970
            """
        )
    }

    @Test func `a member has access, pays nothing, and loses the assignment`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 seats=8x1000 assigned
            @03-20 purchase basic 03-01..04-01 seats=8x1000 assigned revoked=03-20 \
            type=ASSIGNMENT_REVOKE
            ---
            assigned basic 03-01..03-20 assignment_ended
            active 03-01..03-20
            --- refunds
            revoked assignment_ended current basic 03-01 revoked=03-20 net
            --- transactions
            basic 03-01..04-01 until=03-20 n=1 paid=0 seats=8/8
            --- movements
            03-01 paid_start basic 0 assigned "Subscribe"
            03-20 assignment_ended basic 0 assigned
            --- renewal_states
            active waiting 03-01..03-20
            revoked closed 03-20..
            """
        )
    }

    @Test func `an assignment that ended counts as one, whatever word Apple gives it`() throws {
        try expect(
            """
            @03-20 purchase basic 03-01..04-01 seats=8x1000 assigned revoked=03-20 type=REFUND_FULL
            ---
            assigned basic 03-01..03-20 assignment_ended
            active 03-01..03-20
            """
        )
    }

    @Test func `a refund that looks back does not take an assignment's time away`() throws {
        try expect(
            """
            @03-20 purchase basic 03-01..04-01 seats=8x1000 assigned revoked=03-20
            --- active_periods never-bought no-family
            assigned basic 03-01..03-20 assignment_ended
            active 03-01..03-20
            """
        )
    }

    @Test func `added seats are one period of several transactions, and no renewal`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 woli=1 seats=4x500 added
            @03-12 purchase basic 03-01..04-01 woli=1 seats=8x1000 added
            @04-01 purchase basic 04-01..05-01 woli=2 seats=12x1000 reason=RENEWAL
            ---
            paid basic 03-01..04-01 expired seats=12
            paid basic 04-01..05-01 open seats=12
            active 03-01..05-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 8000/8000 seats=8/8
            basic 03-11..04-01 n=1 paid=1 2000/2000 seats=4/4 added-to=03-01
            basic 04-01..05-01 n=2 paid=2 12000/12000 seats=12/12
            --- movements
            03-01 paid_start basic 8000 seats=8 "Subscribe"
            03-11 seats_added basic 2000 seats=4
            04-01 renewal basic 12000 seats=12 "Renew"
            --- refunds
            """
        )
    }

    @Test func `a refunded addition leaves the access of the purchaser`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 woli=2 seats=4x500 added
            @03-20 purchase basic 03-11..04-01 woli=2 seats=4x500 added taken=4 revoked=03-20
            @03-20 notice REFUND uuid=n1 about=03-11..04-01
            ---
            paid basic 03-01..04-01 open seats=8
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 8000/8000 seats=8/8
            basic 03-11..04-01 until=03-20 n=1 paid=1 refunded=03-20 0/2000 seats=0/4 added-to=03-01
            --- refunds
            refunded untyped current basic 03-11 revoked=03-20 2000/2000 net
            --- movements
            03-01 paid_start basic 8000 seats=8 "Subscribe"
            03-11 seats_added basic 2000 seats=4
            03-20 exit_refund basic -2000 "Refund"
            """
        )
    }

    @Test func `access ends when every transaction of the period is refunded`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 woli=2 seats=4x500 added
            @03-15 purchase basic 03-01..04-01 woli=1 seats=8x1000 added taken=8 revoked=03-15
            @03-20 purchase basic 03-11..04-01 woli=2 seats=4x500 added taken=4 revoked=03-20
            ---
            paid basic 03-01..03-20 refunded seats=0
            active 03-01..03-20
            --- active_periods never-bought
            paid basic 03-01..03-01 refunded seats=0
            active
            --- transactions
            basic 03-01..04-01 until=03-15 n=1 paid=1 refunded=03-15 0/8000 seats=0/8
            basic 03-11..04-01 until=03-20 n=1 paid=1 refunded=03-20 0/2000 seats=0/4 added-to=03-01
            """
        )
    }

    @Test func `while one addition is left, the refunded first transaction ends nothing`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 woli=2 seats=4x500 added
            @03-15 purchase basic 03-01..04-01 woli=1 seats=8x1000 added taken=8 revoked=03-15
            ---
            paid basic 03-01..04-01 open seats=4
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 until=03-15 n=1 paid=1 refunded=03-15 0/8000 seats=0/8
            basic 03-11..04-01 n=1 paid=1 2000/2000 seats=4/4 added-to=03-01
            """
        )
    }

    @Test func `a refund of seats gives back their share, and access stays`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 seats=8x1000+4x800
            @03-10 purchase basic 03-01..04-01 seats=8x1000+4x800 taken=3
            @03-10 notice REFUND SEATS uuid=n1 about=03-01..04-01
            ---
            paid basic 03-01..04-01 open seats=9
            active 03-01..04-01
            --- refunds
            refunded seats basic 03-01 told=03-10 seats=3 2800/11200 net
            --- transactions
            basic 03-01..04-01 n=1 paid=1 refunded=03-10 8400/11200 seats=9/12
            --- movements
            03-01 paid_start basic 11200 seats=12 "Subscribe"
            03-10 exit_refund basic -2800 seats=3 "Refund"
            --- renewal_states
            active waiting 03-01..04-01
            """
        )
    }

    @Test func `each refund of seats counts on its day, and all of them are the whole price`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 seats=7x1000
            @03-10 purchase basic 03-01..04-01 seats=7x1000 taken=3
            @03-12 purchase basic 03-01..04-01 seats=7x1000 taken=5
            @03-15 purchase basic 03-01..04-01 seats=7x1000 taken=7 revoked=03-15 type=REFUND_FULL
            ---
            paid basic 03-01..03-15 refunded seats=0
            active 03-01..03-15
            --- refunds
            refunded seats basic 03-01 told=03-10 seats=3 3000/7000 net
            refunded seats basic 03-01 told=03-12 seats=2 2000/7000 net
            refunded full current basic 03-01 revoked=03-15 2000/7000 net
            --- transactions
            basic 03-01..04-01 until=03-15 n=1 paid=1 refunded=03-15 0/7000 seats=0/7
            """
        )
    }

    @Test func `a reversed refund of seats gives the last ones back first`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 seats=10x1000
            @03-10 purchase basic 03-01..04-01 seats=10x1000 taken=3
            @03-12 purchase basic 03-01..04-01 seats=10x1000 taken=5
            @03-14 purchase basic 03-01..04-01 seats=10x1000 taken=3
            @03-14 notice REFUND_REVERSED uuid=n1 about=03-01..04-01
            --- refunds
            refunded seats basic 03-01 told=03-10 seats=3 3000/10000 net
            reversed seats basic 03-01 told=03-12 announced=03-14 seats=2 0/10000
            --- transactions
            basic 03-01..04-01 n=1 paid=1 refunded=03-10 7000/10000 seats=7/10
            """
        )
    }

    @Test func `an announced refund of seats without its transaction has no amount`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 seats=8x1000
            @03-10 notice REFUND SEATS uuid=n1 about=03-01..04-01
            ---
            paid basic 03-01..04-01 open seats=8
            active 03-01..04-01
            --- refunds
            refunded seats basic 03-01 told=03-10 ?/8000 net
            """
        )
    }

    @Test func `an upgrade replaces the whole period with its additions`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 woli=2 seats=4x500 added
            @03-21 purchase premium 03-21..04-21 woli=3 seats=12x2000
            ---
            paid basic 03-01..03-21 upgraded seats=12
            paid premium 03-21..04-21 open seats=12
            active 03-01..04-21
            --- plan_changes
            effective now plan_change basic..basic effective=03-11 seats=8..12
            effective now upgrade basic..premium effective=03-21 same estimate=3887EUR seats=12..12
            """
        )
    }

    @Test func `an extension moves the period, whichever transaction Apple signs it for`() throws {
        for extended in ["03-01..04-08 woli=1 seats=8x1000", "03-11..04-08 woli=2 seats=4x500"] {
            try expect(
                """
                @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
                @03-11 purchase basic 03-11..04-01 woli=2 seats=4x500 added
                @03-20 purchase basic \(extended) added
                ---
                paid basic 03-01..04-08 open seats=12
                active 03-01..04-08
                """
            )
        }
    }

    @Test func `a renewal charged early is no period to add seats to before it begins`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 seats=8x1000
            @03-31 purchase basic 04-01..05-01 woli=2 seats=8x1000 reason=RENEWAL
            @03-31T12:00 purchase basic 03-31T12:00..04-01 woli=3 seats=2x100 added
            @04-10 purchase basic 04-10..05-01 woli=4 seats=1x700 added
            ---
            paid basic 03-01..04-01 expired seats=10
            paid basic 04-01..05-01 open seats=9
            active 03-01..05-01
            """
        )
    }
}
