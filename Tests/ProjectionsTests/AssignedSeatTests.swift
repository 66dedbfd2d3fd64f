import Projections
import Testing

/// Seats that are assigned to an owner who also buys (Decisions: seats as one period).
struct AssignedSeatTests {
    @Test func `a seat assigned to the buyer takes nothing from what was bought`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-02 purchase basic 03-01..04-01 id=12 woli=2 seats=8x1000 assigned
            ---
            assigned basic 03-01..04-01 open
            paid basic 03-01..04-01 open seats=8
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 8000/8000 seats=8/8
            basic 03-01..04-01 n=1 paid=0 seats=8/8
            --- movements
            03-01 paid_start basic 8000 seats=8 "Subscribe"
            03-01 paid_start basic 0 assigned "Subscribe"
            --- plan_changes
            """
        )
    }

    @Test func `a seat of another product runs next to the owner's subscription`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 price=990
            @03-10 purchase premium 03-10..04-10 id=12 woli=2 seats=3x2000 assigned
            @04-01 purchase basic 04-01..05-01 id=13 woli=3 price=990 reason=RENEWAL
            @04-20 purchase premium 03-10..04-10 id=12 woli=2 seats=3x2000 assigned
            ---
            paid basic 03-01..04-01 expired
            assigned premium 03-10..04-10 expired
            paid basic 04-01..05-01 open
            active 03-01..05-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 990/990
            premium 03-10..04-10 n=1 paid=0 seats=3/3
            basic 04-01..05-01 n=2 paid=2 990/990
            --- movements
            03-01 paid_start basic 990 "Subscribe"
            03-10 paid_start premium 0 assigned "Subscribe"
            04-01 renewal basic 990 "Renew"
            --- plan_changes
            """
        )
    }

    @Test func `a seat does not overtake a renewal that was charged early, nor end a grace`() throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 price=990
            @03-31 purchase basic 04-01..05-01 id=12 woli=2 price=990 reason=RENEWAL
            @03-31T12:00 purchase premium 03-31T12:00..04-30 id=13 woli=3 seats=3x2000 assigned
            @05-01 renewal of=05-01 auto=1 retry grace=05-07
            @05-03 purchase premium 05-03..06-03 id=14 woli=4 seats=3x2000 assigned
            ---
            paid basic 03-01..04-01 expired
            assigned premium 03-31T12:00:00..04-30 expired
            paid basic 04-01..05-01 expired
            grace basic 05-01..05-07 expired
            assigned premium 05-03..06-03 open
            active 03-01..06-03
            """
        )
    }

    @Test func `a purchase does not end the seat that was assigned before`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000 assigned
            @03-10 purchase premium 03-10..04-10 id=12 woli=2 price=1990
            ---
            assigned basic 03-01..04-01 expired
            paid premium 03-10..04-10 open
            active 03-01..04-10
            --- movements
            03-01 paid_start basic 0 assigned "Subscribe"
            03-10 paid_start premium 1990 "Subscribe"
            --- refunds
            --- plan_changes
            """
        )
    }

    @Test func `the upgrade of an assigned seat is one exit, and no assignment ended`() throws {
        for (revoked, timing) in [
            ("03-11", "older"), ("03-11T00:00:02", "older"), ("03-10T23:59:58", "current"),
        ] {
            try expect(
                """
                @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000 assigned
                @03-11T00:00:05 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000 assigned \
                revoked=\(revoked) type=ASSIGNMENT_REVOKE
                @03-11T00:00:05 purchase premium 03-11..04-11 id=12 woli=2 seats=3x2000 assigned
                ---
                assigned basic 03-01..03-11 upgraded
                assigned premium 03-11..04-11 open
                active 03-01..04-11
                --- movements
                03-01 paid_start basic 0 assigned "Subscribe"
                03-11 renewal premium was=basic 0 assigned "Upgrade"
                03-11 exit_plan_change basic assigned
                --- refunds
                revoked replaced \(timing) basic 03-01 revoked=\(revoked) told=03-11T00:00:05 net
                """
            )
        }
    }

    @Test func `an assignment that ends long before the next one is no upgrade`() throws {
        try expect(
            """
            @03-11 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000 assigned \
            revoked=03-05 type=ASSIGNMENT_REVOKE
            @03-11 purchase premium 03-11..04-11 id=12 woli=2 seats=3x2000 assigned
            ---
            assigned basic 03-01..03-05 assignment_ended
            assigned premium 03-11..04-11 open
            active 03-01..03-05 03-11..04-11
            """
        )
    }

    @Test func `an assignment of a period with added seats ends once`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000 assigned added
            @03-05 purchase basic 03-05..04-01 id=12 woli=2 seats=2x1000 assigned added
            @03-11 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000 assigned added \
            revoked=03-11 type=ASSIGNMENT_REVOKE
            @03-11 purchase basic 03-05..04-01 id=12 woli=2 seats=2x1000 assigned added \
            revoked=03-11 type=ASSIGNMENT_REVOKE
            ---
            assigned basic 03-01..03-11 assignment_ended
            active 03-01..03-11
            --- movements
            03-01 paid_start basic 0 assigned "Subscribe"
            03-05 seats_added basic 0 assigned
            03-11 assignment_ended basic 0 assigned
            """
        )
    }
}
