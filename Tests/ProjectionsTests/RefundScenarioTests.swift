import Events
import Projections
import Testing
import TestSupport

/// The life of a refund (Apple's data: traps 8 to 10, 24, 27 to 33, scenarios 4, 5, 10).
@Suite struct RefundScenarioTests {
    @Test func `a later date of a refund gives back no day, and a reversal gives back all`() throws
    {
        let refunded = """
            @04-01 purchase monthly 04-01..05-01 woli=1
            @04-06 purchase monthly 04-01..05-01 woli=1 revoked=04-05
            @04-12 purchase monthly 04-01..05-01 woli=1 revoked=04-10
            """
        try expect(
            refunded + """

                ---
                paid monthly 04-01..04-05 refunded
                active 04-01..04-05
                """
        )
        try expect(
            refunded + """

                @04-15 purchase monthly 04-01..05-01 woli=1
                @04-20 purchase monthly 04-01..05-01 woli=1 revoked=04-19
                ---
                paid monthly 04-01..04-19 refunded
                active 04-01..04-19
                """
        )
    }

    @Test func `a full refund of the current period gives back its price`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-02T10:00 purchase basic 03-20..04-20 woli=1 price=9990 revoked=04-02 \
            type=REFUND_FULL
            --- refunds
            refunded full current basic 03-20 revoked=04-02 told=04-02T10:00:00 9990/9990 net
            """
        )
    }

    @Test func `a prorated refund gives back its percentage, half a milliunit rounded up`() throws {
        try expect(
            """
            @04-02 purchase basic 03-20..04-20 woli=1 price=9995 revoked=04-02 percentage=67932 \
            type=REFUND_PRORATED
            --- refunds
            refunded prorated current basic 03-20 revoked=04-02 part=67932 6790/9995 net
            """
        )
        try expect(
            """
            @04-02 purchase basic 03-20..04-20 price=9223372036854775807 revoked=04-02 \
            type=REFUND_PRORATED percentage=50000
            --- refunds
            refunded prorated current basic 03-20 revoked=04-02 part=50000 \
            4611686018427387904/9223372036854775807 net
            """
        )
        try expect(
            """
            @04-02 purchase basic 03-20..04-20 price=990 revoked=04-02 type=REFUND_PRORATED
            --- refunds
            refunded prorated current basic 03-20 revoked=04-02 ?/990 net
            """
        )
    }

    // Life 1655 of seed 20261201: both are monthly, and the second was extended after the request.
    @Test func `of two purchases in one second a notice is about the one that ever had its expiry`()
        throws
    {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=990
            @03-20 purchase plus 03-20..04-20 woli=2 price=990
            @03-25 notice CONSUMPTION_REQUEST uuid=n1 about=03-20..04-20
            @03-26 notice REFUND_DECLINED uuid=n2 about=03-20..04-20
            @04-02 purchase plus 03-20..05-20 woli=2 price=990
            --- refunds
            declined plus 03-20 requested=03-25 declined=03-26 ?/990
            """
        )
    }

    @Test func `a refund of an older period leaves the access to both periods`() throws {
        try expect(
            """
            @06-10 purchase basic 05-01..06-01 woli=1 price=990 revoked=06-10
            @06-10 purchase basic 06-01..07-01 woli=2 price=990
            --- refunds
            refunded untyped older basic 05-01 revoked=06-10 990/990 net
            --- active_periods
            paid basic 05-01..06-01 expired
            paid basic 06-01..07-01 open
            active 05-01..07-01
            """
        )
    }

    @Test func `a refund after the end or before the start is marked as such`() throws {
        try expect(
            """
            @07-10 purchase basic 05-01..06-01 woli=1 revoked=06-01
            @07-10 purchase basic 08-01..09-01 woli=2 revoked=07-31
            --- refunds
            refunded untyped after_expiry basic 05-01 revoked=06-01 told=07-10 net
            refunded untyped before_start basic 08-01 revoked=07-31 told=07-10 net
            """
        )
    }

    @Test func `a refund in the purchase's own grace counts as a refund of the current period`()
        throws
    {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-25 purchase basic 03-20..04-20 woli=1 revoked=04-25
            --- refunds
            refunded untyped current basic 03-20 revoked=04-25 net
            """
        )
    }

    @Test func `the refund of an upgrade does not affect the upgraded period`() throws {
        try expect(
            """
            @2020-12-05T14:10 purchase a 2020-12-05T13:44:41..2021-12-05T13:44:41 woli=1 upgraded
            @2020-12-05T14:10 purchase b 2020-12-05T14:05:19..2021-12-05T14:05:19 woli=2
            @2020-12-11 purchase b 2020-12-05T14:05:19..2021-12-05T14:05:19 revoked=2020-12-10
            --- refunds
            refunded untyped current b 2020-12-05T14:05:19 revoked=2020-12-10 told=2020-12-11 net
            """
        )
    }

    @Test func `money back within a minute of the replacement is marked as replaced`() throws {
        try expect(
            """
            @04-23T10:00 purchase basic 03-14..04-14 woli=1 via=response
            @04-23T10:00 purchase basic 04-14..05-14 woli=2 revoked=04-23T09:00:02 via=response
            @04-23T10:00 purchase premium 04-23T09:00:00..05-23T09:00:00 woli=3 via=response
            --- refunds
            refunded replaced older basic 04-14 revoked=04-23T09:00:02 told=04-23T10:00:00 net
            """
        )
        try expect(
            """
            @04-23T10:00 purchase basic 04-14..05-14 woli=2 price=990 revoked=04-23T09:01:01
            @04-23T10:00 purchase premium 04-23T09:00:00..05-23T09:00:00 woli=3
            --- refunds
            refunded untyped older basic 04-14 revoked=04-23T09:01:01 told=04-23T10:00:00 \
            990/990 net
            """
        )
    }

    @Test func `the end of family sharing refunds no money`() throws {
        try expect(
            """
            @06-05 purchase basic 05-01..06-01 woli=1 family revoked=05-20
            @06-05 purchase basic 06-01..07-01 woli=2 revoked=06-03 type=FAMILY_REVOKE price=990
            --- refunds
            revoked family_revoke current basic 05-01 revoked=05-20 told=06-05 net
            revoked family_revoke current basic 06-01 revoked=06-03 told=06-05 ?/990 net
            """
        )
    }

    @Test func `a declined request and a granted one are two cases`() throws {
        try expect(
            """
            @05-02 purchase basic 05-01..06-01 woli=1 price=990
            @05-03 notice CONSUMPTION_REQUEST uuid=n1 about=05-01
            @05-04 notice CONSUMPTION_REQUEST uuid=n2 about=05-01
            @05-05 notice REFUND_DECLINED uuid=n3 about=05-01
            @05-06 notice CONSUMPTION_REQUEST uuid=n4 about=05-01
            @05-07 purchase basic 05-01..06-01 woli=1 price=990 revoked=05-07
            @05-07 notice CONSUMPTION_REQUEST uuid=n5 about=05-01
            --- refunds
            declined basic 05-01 requested=05-03 declined=05-05 ?/990
            refunded untyped current basic 05-01 requested=05-06 revoked=05-07 990/990 net
            --- active_periods
            paid basic 05-01..05-07 refunded
            active 05-01..05-07
            """
        )
    }

    @Test func `a request alone, or a declined refund without a request, changes nothing`() throws {
        try expect(
            """
            @05-02 purchase basic 05-01..06-01 woli=1
            @05-03 notice CONSUMPTION_REQUEST uuid=n1 about=05-01
            @05-02 purchase basic 04-01..05-01 woli=0
            @05-04 notice REFUND_DECLINED uuid=n2 about=04-01
            --- refunds
            declined basic 04-01 declined=05-04
            requested basic 05-01 requested=05-03
            --- active_periods
            paid basic 04-01..05-01 expired
            paid basic 05-01..06-01 open
            active 04-01..06-01
            """
        )
    }

    @Test func `an announced reversal restores the older period in the history`() throws {
        try expect(
            """
            @06-02 purchase basic 05-01..06-01 woli=1 price=990
            @06-02 purchase basic 06-01..07-01 woli=2 price=990
            @06-10 purchase basic 05-01..06-01 woli=1 price=990 revoked=06-10
            @06-10 notice REFUND uuid=n1 about=05-01
            @06-20 purchase basic 05-01..06-01 woli=1 price=990
            @06-20 notice REFUND_REVERSED uuid=n2 about=05-01
            --- refunds
            reversed untyped older basic 05-01 revoked=06-10 announced=06-20 0/990 net
            """
        )
    }

    @Test func `a reversal that only a later statement shows is inferred`() throws {
        try expect(
            """
            @06-10 purchase basic 05-01..06-01 woli=1 price=990 revoked=05-20 type=REFUND_FULL
            @06-20 purchase basic 05-01..06-01 woli=1 price=990
            --- refunds
            reversed full current basic 05-01 revoked=05-20 told=06-10 inferred=06-20 0/990 net
            """
        )
    }

    @Test func `refunded, reversed and refunded again are two separate cases`() throws {
        let ledger = try expect(
            """
            @05-10 purchase basic 05-01..06-01 woli=1 price=990 revoked=05-10 percentage=50000 \
            type=REFUND_PRORATED
            @05-12 purchase basic 05-01..06-01 woli=1 price=990
            @05-14 purchase basic 05-01..06-01 woli=1 price=990 revoked=05-13 via=response
            @05-16 notice REFUND_REVERSED uuid=n1 about=05-01
            @05-16T00:00:00.100Z purchase basic 05-01..06-01 woli=1 price=990
            --- refunds
            reversed prorated current basic 05-01 revoked=05-10 inferred=05-12 part=50000 0/990
            reversed untyped current basic 05-01 revoked=05-13 told=05-14 \
            announced=05-16T00:00:00.100 0/990 net
            """
        )
        let rows = Refunds(ledger.timeline(of: TimelineText.stream)).rows
        #expect(rows.map { $0.positions.map(\.offset) } == [[1, 2, 5], [3, 4, 5]])
        #expect(rows.map(\.givenMilliunits) == [495, 990])
    }

    @Test func `a date or percentage that Apple changes corrects the open case`() throws {
        try expect(
            """
            @05-10 purchase basic 05-01..06-01 woli=1 price=1000 revoked=05-10
            @05-11 purchase basic 05-01..06-01 price=1000 woli=1 revoked=05-09 type=REFUND_FULL
            @05-12 purchase basic 05-01..06-01 price=1000 woli=1 revoked=05-08 percentage=25000 \
            type=REFUND_PRORATED
            @05-13 purchase basic 05-01..06-01 price=1000 woli=1 revoked=05-08 via=receipt
            --- refunds
            refunded prorated current basic 05-01 revoked=05-08 told=05-10 part=25000 250/1000 net
            """
        )
    }

    @Test func `the reversal of an unknown refund has no date`() throws {
        try expect(
            """
            @05-02 purchase basic 05-01..06-01 woli=1 price=990
            @05-03 notice CONSUMPTION_REQUEST uuid=n1 about=05-01
            @05-20 notice REFUND_REVERSED uuid=n2 about=05-01
            @05-21 notice REFUND_REVERSED uuid=n3 about=05-01
            --- refunds
            reversed untyped basic 05-01 requested=05-03 announced=05-20 0/990 net
            """
        )
    }

    @Test func `one-time purchases are refunded too`() throws {
        try expect(
            """
            @05-02 once coins 05-01 price=4990 quantity=2
            @05-03 notice CONSUMPTION_REQUEST uuid=n1 about=05-01
            @05-09 once coins 05-01 price=4990 quantity=2 revoked=05-08 because=1
            --- refunds
            refunded untyped current coins 05-01 requested=05-03 revoked=05-08 told=05-09 \
            4990/4990 net
            """
        )
    }

    @Test func `announcements about unknown purchases create no case`() throws {
        try expect(
            """
            @05-02 purchase basic 05-01..06-01 woli=1
            @05-03 notice CONSUMPTION_REQUEST uuid=n1 about=04-01
            @05-03 notice REFUND_DECLINED uuid=n2
            --- refunds
            """
        )
    }
}
