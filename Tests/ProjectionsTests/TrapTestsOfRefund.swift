import Events
import Projections
import Testing
import TestSupport

/// Traps about refunds (Apple's data: traps).
@Suite struct TrapTestsOfRefund {
    @Test func `a later refund of the same purchase is kept, with the earlier facts`()
        throws
    {
        // Apple's data: trap 8
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-02 purchase basic 03-20..04-20 woli=1 price=9990 revoked=04-01
            ---
            paid basic 03-20..04-01 refunded
            active 03-20..04-01
            --- transactions
            basic 03-20..04-20 until=04-01 n=1 paid=1 refunded=04-01 0/9990
            """
        )
        #expect(ledger.events.count == 2)
    }

    @Test func `a purchase that Apple cancelled counts as not bought, regardless of its expiry`()
        throws
    {
        // Apple's data: trap 10
        try expect(
            """
            @03-20 purchase basic 03-20..2027-03-20 woli=1 price=9990
            @03-20T09:00 purchase basic 03-20..2027-03-20 woli=1 price=9990 revoked=03-20
            @05-01 purchase basic 05-01..06-01 woli=2 price=990 reason=PURCHASE
            ---
            paid basic 03-20..03-20 refunded
            paid basic 05-01..06-01 open
            active 05-01..06-01
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            03-20 exit_refund basic -9990 "Refund"
            05-01 paid_start basic 990 again "Reactivate"
            """
        )
    }

    @Test func `the refund of an older period does not affect the current one`() throws {
        // Apple's data: trap 28
        try expect(
            """
            @05-01 purchase basic 05-01..06-01 woli=1 price=9990
            @06-01 purchase basic 06-01..07-01 woli=2 price=9990 reason=RENEWAL
            @06-10 notice REFUND uuid=n1 status=1 about=05-01
            @06-10 purchase basic 05-01..06-01 woli=1 price=9990 revoked=06-10
            ---
            paid basic 05-01..06-01 expired
            paid basic 06-01..07-01 open
            active 05-01..07-01
            --- renewal_states
            active waiting 05-01..07-01
            --- refunds
            refunded untyped older basic 05-01 revoked=06-10 9990/9990 net
            --- movements
            05-01 paid_start basic 9990 "Subscribe"
            06-01 renewal basic 9990 "Renew"
            06-10 exit_refund basic -9990 "Refund"
            """
        )
    }

    @Test func `a partial refund takes all of the access`() throws {
        // Apple's data: trap 29
        try expect(
            """
            @04-02 notice REFUND uuid=n1 status=5 about=03-20
            @04-02 purchase basic 03-20..04-20 woli=1 price=10000 revoked=04-02 percentage=60000 \
            type=REFUND_PRORATED
            ---
            paid basic 03-20..04-02 refunded
            active 03-20..04-02
            --- renewal_states
            active waiting 03-20..04-02
            revoked closed 04-02..
            --- refunds
            refunded prorated current basic 03-20 revoked=04-02 part=60000 6000/10000 net
            --- movements
            03-20 paid_start basic 10000 "Subscribe"
            04-02 exit_refund basic -6000 "Refund"
            """
        )
    }

    @Test func `a reversal restores the purchase, and the history keeps both`() throws {
        // Apple's data: trap 30
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-02 notice REFUND uuid=n1 status=5 about=03-20
            @04-02 purchase basic 03-20..04-20 woli=1 price=9990 revoked=04-02
            @04-09 notice REFUND_REVERSED uuid=n2 status=1 about=03-20
            @04-09 purchase basic 03-20..04-20 woli=1 price=9990
            ---
            paid basic 03-20..04-20 open
            active 03-20..04-20
            --- renewal_states
            active waiting 03-20..04-20
            --- refunds
            reversed untyped current basic 03-20 revoked=04-02 announced=04-09 0/9990 net
            --- transactions
            basic 03-20..04-20 n=1 paid=1 9990/9990
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-02 exit_refund basic -9990 "Refund"
            04-09 refund_reversed basic 9990
            """
        )
        #expect(ledger.events.count == 5)
    }

    @Test func `a later statement without the refund is an unannounced reversal`() throws {
        // Apple's data: trap 31: an earlier receipt, and a format that cannot carry a refund, deny
        // nothing.
        let refunded = """
            @04-02 purchase basic 03-20..04-20 woli=1 revoked=04-02
            @04-01 purchase basic 03-20..04-20 woli=1
            """
        try expect(
            refunded + """

                --- refunds
                refunded untyped current basic 03-20 revoked=04-02 net
                """
        )
        try expect(
            refunded + """

                @04-09 purchase basic 03-20..04-20 woli=1
                --- refunds
                reversed untyped current basic 03-20 revoked=04-02 inferred=04-09 net
                """
        )
    }

    @Test func `a declined refund request takes nothing, although auto-renewal goes off`()
        throws
    {
        // Apple's data: trap 32
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-02 notice CONSUMPTION_REQUEST uuid=n1 status=1 about=03-20
            @04-02 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n2 status=1
            @04-02 renewal of=04-20 auto=0
            @04-05 notice REFUND_DECLINED uuid=n3 status=1 about=03-20
            ---
            paid basic 03-20..04-20 open
            active 03-20..04-20
            --- renewal_states
            active waiting 03-20..04-02
            active closed 04-02..04-20 off
            --- refunds
            declined basic 03-20 requested=04-02 declined=04-05 ?/9990
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-02 refund_requested basic
            04-02 auto_renew_off basic
            04-05 refund_declined basic
            """
        )
    }

    @Test func `family sharing gives access but no money, and its loss is not a refund`() throws {
        // Apple's data: trap 33
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 family
            @04-01 notice REVOKE uuid=n1 status=5 about=03-20
            @04-01 purchase basic 03-20..04-20 woli=1 family revoked=03-31
            ---
            family basic 03-20..03-31 revoked
            active 03-20..03-31
            --- transactions
            basic 03-20..04-20 until=03-31 n=1 paid=0 refunded=03-31
            --- movements
            03-20 paid_start basic 0 family "Subscribe"
            03-31 family_revoke basic 0 family
            """
        )
    }

    @Test func `a purchase that never expires is in the log but not in any period`() throws {
        // Apple's data: trap 35
        try expect(
            """
            @05-02 once coins 05-01 quantity=2 price=1980
            @05-03 once coins 05-01 quantity=2 price=1980 revoked=05-03
            ---
            active
            --- renewal_states
            --- plan_changes
            --- refunds
            refunded untyped current coins 05-01 revoked=05-03 1980/1980 net
            --- movements
            05-01 one_time_purchase coins 1980
            05-03 exit_refund coins -1980 "Refund"
            """
        )
    }
}
