import Events
import Projections
import Testing

/// Lives in which many rules meet; each answer was derived from what Apple documents (Apple's
/// data), before it was asked.
@Suite struct CombinedLivesTests {
    @Test
    func
        `an early renewal, an upgrade, and seats added, refunded and reversed: one paid time`()
        throws
    {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 seats=8x1000
            @04-30T06:00 purchase basic 05-01..06-01 woli=2 seats=8x1000 reason=RENEWAL
            @04-30T20:00 purchase premium 04-30T20:00..05-30T20:00 woli=3 seats=8x2000
            @05-10 purchase premium 05-10..05-30T20:00 woli=4 seats=2x2000 added
            @05-12 purchase premium 05-10..05-30T20:00 woli=4 seats=2x2000 added taken=1
            @05-12 notice REFUND SEATS uuid=n1 status=1 about=05-10..05-30T20:00
            @05-14 purchase premium 05-10..05-30T20:00 woli=4 seats=2x2000 added
            @05-14 notice REFUND_REVERSED uuid=n2 status=1 about=05-10..05-30T20:00
            ---
            paid basic 04-01..04-30T20:00:00 upgraded seats=8
            paid premium 04-30T20:00:00..05-30T20:00:00 open seats=10
            paid basic 05-01..05-01 upgraded seats=8
            active 04-01..05-30T20:00:00
            """
        )
    }

    @Test func `an assigned seat that ends does not end the owner's own seats`() throws {
        try expect(
            """
            @04-01 purchase team 04-01..05-01 woli=1 seats=5x1000
            @04-10 purchase team 04-10..05-10 woli=2 assigned
            @04-20 purchase team 04-10..05-10 woli=2 assigned revoked=04-20 type=ASSIGNMENT_REVOKE
            ---
            paid team 04-01..05-01 open seats=5
            assigned team 04-10..04-20 assignment_ended
            active 04-01..05-01
            """
        )
    }

    @Test func `a full refund of the owner's seats leaves the seat that was assigned`() throws {
        try expect(
            """
            @04-01 purchase team 04-01..05-01 woli=1 seats=5x1000
            @04-10 purchase team 04-10..05-10 woli=2 assigned
            @04-25 purchase team 04-01..05-01 woli=1 seats=5x1000 taken=5 revoked=04-25
            ---
            paid team 04-01..04-25 refunded seats=0
            assigned team 04-10..05-10 open
            active 04-01..05-10
            """
        )
    }

    @Test
    func `a grace without a date ends with its word, and a later recovery leaves a gap`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @04-01 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4 about=03-01..04-01
            @04-10 notice GRACE_PERIOD_EXPIRED uuid=n2 status=3 about=03-01..04-01
            @04-20 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
            @04-20 notice DID_RENEW BILLING_RECOVERY uuid=n3 status=1 about=04-20..05-20
            ---
            paid basic 03-01..04-01 expired
            grace basic 04-01..04-10 expired
            paid basic 04-20..05-20 open
            active 03-01..04-10 04-20..05-20
            """
        )
    }

    @Test
    func `a grace without a date that is recovered leaves neither a gap nor a grace`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @04-01 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4 about=03-01..04-01
            @04-05 purchase basic 04-01..05-01 woli=2 reason=RENEWAL
            @04-05 notice DID_RENEW BILLING_RECOVERY uuid=n2 status=1 about=04-01..05-01
            ---
            paid basic 03-01..04-01 expired
            paid basic 04-01..05-01 open
            active 03-01..05-01
            """
        )
    }

    @Test
    func `a grace without a date that expires is over until the customer subscribes again`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @04-01 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4 about=03-01..04-01
            @04-12 notice EXPIRED BILLING_RETRY uuid=n2 status=2 about=03-01..04-01
            @04-12 renewal auto=0 intent=2
            @04-20 purchase basic 04-20..05-20 woli=2 reason=PURCHASE
            ---
            paid basic 03-01..04-01 expired
            grace basic 04-01..04-12 expired because=billing
            paid basic 04-20..05-20 open
            active 03-01..04-12 04-20..05-20
            """
        )
    }

    // Apple's data: trap 27
    @Test func `a refunded upgrade of seats does not revive the seats before it`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 seats=8x1000
            @04-10 purchase premium 04-10..05-10 woli=2 seats=8x2000
            @04-10 purchase basic 04-01..05-01 woli=1 seats=8x1000 upgraded
            @04-15 purchase premium 04-10..05-10 woli=2 seats=8x2000 taken=8 revoked=04-15 \
            type=REFUND_FULL
            ---
            paid basic 04-01..04-10 upgraded seats=8
            paid premium 04-10..04-15 refunded seats=0
            active 04-01..04-15
            """
        )
    }

    @Test
    func `the reversal of that refund gives back the upgrade only`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 seats=8x1000
            @04-10 purchase premium 04-10..05-10 woli=2 seats=8x2000
            @04-10 purchase basic 04-01..05-01 woli=1 seats=8x1000 upgraded
            @04-15 purchase premium 04-10..05-10 woli=2 seats=8x2000 taken=8 revoked=04-15 \
            type=REFUND_FULL
            @04-18 purchase premium 04-10..05-10 woli=2 seats=8x2000
            @04-18 notice REFUND_REVERSED uuid=n1 status=1 about=04-10..05-10
            ---
            paid basic 04-01..04-10 upgraded seats=8
            paid premium 04-10..05-10 open seats=8
            active 04-01..05-10
            """
        )
    }

    @Test
    func `one added seat keeps a period whose first seats were refunded`() throws {
        try expect(
            """
            @03-01 purchase team 03-01..04-01 woli=1 seats=8x1000
            @03-10 purchase team 03-01..04-01 woli=1 seats=8x1000 taken=3
            @04-01 purchase team 04-01..05-01 woli=2 seats=5x1000 reason=RENEWAL
            @04-05 purchase team 04-05..05-01 woli=3 seats=2x900 added
            @04-06 purchase team 04-01..05-01 woli=2 seats=5x1000 reason=RENEWAL added taken=5 \
            revoked=04-06
            @04-08 purchase team 04-05..05-01 woli=3 seats=2x900 added taken=1
            ---
            paid team 03-01..04-01 expired seats=5
            paid team 04-01..05-01 open seats=1
            active 03-01..05-01
            --- movements
            03-01 paid_start team 8000 seats=8 "Subscribe"
            03-10 exit_refund team -3000 seats=3 "Refund"
            04-01 renewal team 5000 seats=5 "Renew"
            04-05 seats_added team 1800 seats=2
            04-06 exit_refund team -5000 "Refund"
            04-08 exit_refund team -900 seats=1 "Refund"
            """
        )
    }

    @Test
    func `a period of seats ends with its last transaction, unless one comes back`()
        throws
    {
        try expect(
            """
            @04-01 purchase team 04-01..05-01 woli=2 seats=5x1000
            @04-05 purchase team 04-05..05-01 woli=3 seats=2x900 added
            @04-06 purchase team 04-01..05-01 woli=2 seats=5x1000 added taken=5 revoked=04-06
            @04-20 purchase team 04-05..05-01 woli=3 seats=2x900 added taken=2 revoked=04-20
            @04-22 purchase team 04-01..05-01 woli=2 seats=5x1000 added
            ---
            paid team 04-01..05-01 open seats=5
            active 04-01..05-01
            """
        )
    }

    @Test
    func `an early renewal that moves to a bundle ends as a change of plan`()
        throws
    {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-30T06:00 purchase basic 05-01..06-01 woli=2 reason=RENEWAL
            @04-30T12:00 purchase basic 04-01..05-01 woli=1 revoked=04-30T12:00 because=2
            @04-30T12:00 purchase basic 05-01..06-01 woli=2 reason=RENEWAL revoked=04-30T12:00 \
            because=2
            ---
            paid basic 04-01..04-30T12:00:00 upgraded
            paid basic 05-01..05-01 upgraded
            active 04-01..04-30T12:00:00
            """
        )
    }

    @Test func `a bundle that is left ends at its expiry, and names why`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 bundle=suite
            @04-20 renewal of=05-01 auto=0 unbundles
            @05-01T00:00:05 renewal auto=0 intent=6
            @05-01T00:00:05 notice EXPIRED VOLUNTARY uuid=n1 status=2 about=04-01..05-01
            ---
            paid basic 04-01..05-01 expired because=unbundled bundle=suite
            active 04-01..05-01
            """
        )
    }

    @Test
    func `an offer in mid-period is extended while what it replaced is refunded`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 purchase basic 04-10..05-10 woli=2 offer=3 reason=PURCHASE
            @04-12 purchase basic 04-10..05-20 woli=2 offer=3 reason=PURCHASE
            @04-15 purchase basic 04-01..05-01 woli=1 revoked=04-15
            ---
            paid basic 04-01..04-10 replaced
            offer basic 04-10..05-20 open
            active 04-01..05-20
            """
        )
    }

    @Test
    func `seats added to an extended period, and seats refunded of it, leave one period`() throws {
        try expect(
            """
            @04-01 purchase team 04-01..05-01 woli=1 seats=4x1000
            @04-10 purchase team 04-01..05-15 woli=1 seats=4x1000
            @04-20 purchase team 04-20..05-15 woli=2 seats=1x1000 added
            @04-20 purchase team 04-01..05-15 woli=1 seats=4x1000 added
            @04-25 purchase team 04-01..05-15 woli=1 seats=4x1000 added taken=2
            ---
            paid team 04-01..05-15 open seats=3
            active 04-01..05-15
            """
        )
    }

    @Test func `an extension stated of the first seats only extends the added ones too`() throws {
        try expect(
            """
            @04-01 purchase team 04-01..05-01 woli=1 seats=4x1000
            @04-10 purchase team 04-10..05-01 woli=2 seats=1x1000 added
            @04-12 purchase team 04-01..05-15 woli=1 seats=4x1000 added
            ---
            paid team 04-01..05-15 open seats=5
            active 04-01..05-15
            """
        )
    }

    @Test func `another product bought in the grace ends the grace where it begins`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @04-01 renewal of=04-01 grace=04-17 auto=1 retry
            @04-05 purchase other 04-05..05-05 woli=2 reason=PURCHASE
            ---
            paid basic 03-01..04-01 expired
            grace basic 04-01..04-05 expired
            paid other 04-05..05-05 open
            active 03-01..05-05
            """
        )
    }

    @Test
    func `a customer who cancels in the grace loses access at once, and may come back`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @04-01 renewal of=04-01 grace=04-17 auto=1 retry
            @04-06 renewal auto=0 intent=1
            @04-10 purchase basic 04-10..05-10 woli=2 reason=PURCHASE
            ---
            paid basic 03-01..04-01 expired
            grace basic 04-01..04-06 expired because=customer
            paid basic 04-10..05-10 open
            active 03-01..04-06 04-10..05-10
            """
        )
    }

    @Test
    func `refunded, reversed and refunded again ends at the second refund`()
        throws
    {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-05 purchase basic 04-01..05-01 woli=1 revoked=04-05
            @04-07 purchase basic 04-01..05-01 woli=1
            @04-09 purchase basic 04-01..05-01 woli=1 revoked=04-09
            @04-12 purchase premium 04-12..05-12 woli=2 reason=PURCHASE
            ---
            paid basic 04-01..04-09 refunded
            paid premium 04-12..05-12 open
            active 04-01..04-09 04-12..05-12
            """
        )
    }

    @Test
    func `a refund asked for, declined, given for a seat and reversed changes no access`()
        throws
    {
        try expect(
            """
            @04-01 purchase team 04-01..05-01 woli=1 seats=4x1000
            @04-05 notice CONSUMPTION_REQUEST uuid=n1 status=1 about=04-01..05-01
            @04-07 notice REFUND_DECLINED uuid=n2 status=1 about=04-01..05-01
            @04-09 notice REFUND SEATS uuid=n3 status=1 about=04-01..05-01
            @04-09 purchase team 04-01..05-01 woli=1 seats=4x1000 taken=1
            @04-12 notice REFUND_REVERSED uuid=n4 status=1 about=04-01..05-01
            @04-12 purchase team 04-01..05-01 woli=1 seats=4x1000
            ---
            paid team 04-01..05-01 open seats=4
            active 04-01..05-01
            """
        )
    }

    @Test
    func `a status that contradicts the dates ends no period, nor the grace after it`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-20 notice EXPIRED VOLUNTARY uuid=n1 status=2 about=04-01..05-01
            @05-01 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n2 status=4 about=04-01..05-01
            @05-03 renewal of=05-01 grace=05-07 auto=1 retry
            ---
            paid basic 04-01..05-01 expired
            grace basic 05-01..05-07 open
            active 04-01..05-07
            """
        )
    }

    @Test func `the rest of replaced seats that is given back is part of the upgrade`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 seats=8x1000
            @04-10T12:00 purchase premium 04-10T12:00..05-10T12:00 woli=2 seats=8x2000
            @04-10T12:00:30 purchase basic 04-01..05-01 woli=1 seats=8x1000 upgraded taken=8 \
            revoked=04-10T12:00:20
            ---
            paid basic 04-01..04-10T12:00:00 upgraded seats=0
            paid premium 04-10T12:00:00..05-10T12:00:00 open seats=8
            active 04-01..05-10T12:00:00
            """
        )
    }

    // Apple's data: traps 14, 28
    @Test
    func
        `a refund of an overtaken renewal takes nothing from what overtook it`()
        throws
    {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-30T06:00 purchase basic 05-01..06-01 woli=2 reason=RENEWAL
            @04-30T20:00 purchase other 04-30T20:00..05-30T20:00 woli=3 reason=PURCHASE
            @05-02 purchase basic 05-01..06-01 woli=2 reason=RENEWAL revoked=05-02
            @05-30T20:00 purchase other 05-30T20:00..06-30T20:00 woli=4 reason=RENEWAL
            ---
            paid basic 04-01..04-30T20:00:00 upgraded
            paid other 04-30T20:00:00..05-30T20:00:00 expired
            paid basic 05-01..05-01 upgraded
            paid other 05-30T20:00:00..06-30T20:00:00 open
            active 04-01..06-30T20:00:00
            """
        )
    }
}
