import Events
import Projections
import Testing

/// What other policies do to access, and what they do not change (Apple's data: traps 20, 30, 33).
@Suite struct PolicyScenarioTests {
    @Test func `without grace the access ends with the period, but the status stays Apple's`()
        throws
    {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1 reason=PURCHASE price=990
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-10 purchase monthly 05-10..06-10 woli=2 reason=RENEWAL price=990
            ---
            paid monthly 03-20..04-20 expired
            grace monthly 04-20..05-06 expired because=billing
            paid monthly 05-10..06-10 open
            active 03-20..05-06 05-10..06-10
            --- active_periods no-grace
            paid monthly 03-20..04-20 expired because=billing
            paid monthly 05-10..06-10 open
            active 03-20..04-20 05-10..06-10
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..05-06 on
            billing_retry failed 05-06..05-10 on
            active waiting 05-10..06-10 on
            --- renewal_states no-grace
            active waiting 03-20..04-20
            grace_period failed 04-20..05-06 on
            billing_retry failed 05-06..05-10 on
            active waiting 05-10..06-10 on
            --- transactions
            monthly 03-20..04-20 until=05-06 grace=05-06 n=1 paid=1 990/990 failed=04-20
            monthly 05-10..06-10 n=2 paid=2 990/990
            --- transactions no-grace
            monthly 03-20..04-20 grace=05-06 n=1 paid=1 990/990 failed=04-20
            monthly 05-10..06-10 n=2 paid=2 990/990
            """
        )
    }

    /// The customer in the mock-up: refunded on 27 February, reversed on 5 March.
    private static let reversed = """
        @02-10 purchase monthly 02-10..03-10 woli=3 price=9990
        @02-27T10:16 purchase monthly 02-10..03-10 woli=3 price=9990 revoked=02-27 type=REFUND_FULL
        @02-27T10:16 notice REFUND uuid=n4 about=02-10..03-10
        @03-05 purchase monthly 02-10..03-10 woli=3 price=9990
        @03-05 notice REFUND_REVERSED uuid=n5 about=02-10..03-10
        """

    @Test func `a reversed refund takes access only if reversals apply from then on`()
        throws
    {
        try expect(
            Self.reversed + """

                ---
                paid monthly 02-10..03-10 open
                active 02-10..03-10
                --- active_periods from-reversal
                paid monthly 02-10..02-27 refunded
                paid monthly 03-05..03-10 open
                active 02-10..02-27 03-05..03-10
                --- renewal_states
                active waiting 02-10..03-10
                --- renewal_states from-reversal
                active waiting 02-10..02-27
                revoked closed 02-27..03-05
                active waiting 03-05..03-10
                --- refunds from-reversal
                reversed full current monthly 02-10 revoked=02-27 told=02-27T10:16:00 \
                announced=03-05 0/9990 net
                --- movements from-reversal
                02-10 paid_start monthly 9990 "Subscribe"
                02-27 exit_refund monthly -9990 "Refund"
                03-05 refund_reversed monthly 9990
                """
        )
    }

    @Test func `a reversal after the end restores nothing and does not end a later period`()
        throws
    {
        try expect(
            """
            @02-10 purchase monthly 02-10..03-10 woli=3
            @02-27 purchase monthly 02-10..03-10 woli=3 revoked=02-27
            @03-10 purchase monthly 03-10..04-10 woli=4
            @03-15 purchase monthly 02-10..03-10 woli=3
            --- active_periods from-reversal
            paid monthly 02-10..02-27 refunded
            paid monthly 03-10..04-10 open
            active 02-10..02-27 03-10..04-10
            --- transactions from-reversal
            monthly 02-10..03-10 until=02-27 n=1 paid=1
            monthly 03-10..04-10 n=2 paid=2
            ---
            paid monthly 02-10..03-10 expired
            paid monthly 03-10..04-10 open
            active 02-10..04-10
            """
        )
    }

    @Test func `a period refunded, reversed and refunded again has access in between`() throws {
        try expect(
            """
            @02-10 purchase monthly 02-10..03-10
            @02-12 purchase monthly 02-10..03-10 revoked=02-12
            @02-15 purchase monthly 02-10..03-10
            @02-20 purchase monthly 02-10..03-10 revoked=02-20
            --- active_periods from-reversal
            paid monthly 02-10..02-12 refunded
            paid monthly 02-15..02-20 refunded
            active 02-10..02-12 02-15..02-20
            ---
            paid monthly 02-10..02-20 refunded
            active 02-10..02-20
            """
        )
    }

    @Test
    func `a renewal refunded before its start and reversed during it starts with the reversal`()
        throws
    {
        try expect(
            """
            @02-09 purchase monthly 02-10..03-10 reason=RENEWAL
            @02-09T12:00 purchase monthly 02-10..03-10 reason=RENEWAL revoked=02-09T12:00:00
            @02-14 purchase monthly 02-10..03-10 reason=RENEWAL
            --- active_periods from-reversal
            paid monthly 02-10..02-10 refunded
            paid monthly 02-14..03-10 open
            active 02-14..03-10
            """
        )
    }

    @Test func `an upgrade, an unreversed refund and one dated after the end keep their rows`()
        throws
    {
        try expect(
            """
            @02-10 purchase basic 02-10..03-10 woli=1
            @02-20 purchase plus 02-20..03-20 woli=2
            @02-25 purchase plus 02-20..03-20 woli=2 revoked=02-25
            @03-01 purchase basic 02-10..03-10 woli=1 revoked=03-01
            @03-05 purchase basic 02-10..03-10 woli=1
            --- active_periods from-reversal
            paid basic 02-10..02-20 upgraded
            paid plus 02-20..02-25 refunded
            active 02-10..02-25
            """
        )
    }

    @Test func `without family sharing only paid purchases give access`() throws {
        try expect(
            """
            @02-10 purchase monthly 02-10..03-10 family reason=PURCHASE
            @03-10 purchase monthly 03-10..04-10 reason=PURCHASE
            ---
            family monthly 02-10..03-10 expired
            paid monthly 03-10..04-10 open
            active 02-10..04-10
            --- active_periods no-family
            paid monthly 03-10..04-10 open
            active 03-10..04-10
            --- transactions no-family
            monthly 02-10..03-10 until=02-10 n=1 paid=0
            monthly 03-10..04-10 n=2 paid=1
            --- renewal_states no-family
            active waiting 02-10..04-10
            """
        )
    }

    @Test func `a refunded purchase gave no access if refunds are retroactive`() throws {
        try expect(
            """
            @02-10 purchase monthly 02-10..03-10 id=t1
            @03-10 purchase monthly 03-10..04-10 id=t2
            @03-20 purchase monthly 03-10..04-10 id=t2 revoked=03-20
            @03-25 purchase monthly 02-10..03-10 id=t1 revoked=03-25
            ---
            paid monthly 02-10..03-10 expired
            paid monthly 03-10..03-20 refunded
            active 02-10..03-20
            --- active_periods never-bought
            paid monthly 02-10..02-10 refunded
            paid monthly 03-10..03-10 refunded
            active
            """
        )
    }

    @Test func `family sharing gave access until it ended, even if refunds are retroactive`()
        throws
    {
        try expect(
            """
            @02-10 purchase monthly 02-10..03-10 family
            @02-20 purchase monthly 02-10..03-10 family revoked=02-20
            --- active_periods never-bought
            family monthly 02-10..02-20 revoked
            active 02-10..02-20
            """
        )
    }

    @Test func `policies combine`() throws {
        try expect(
            Self.reversed + """

                @03-10 renewal of=03-10 grace=03-26 auto=1 retry
                --- active_periods no-grace from-reversal
                paid monthly 02-10..02-27 refunded
                paid monthly 03-05..03-10 expired because=billing
                active 02-10..02-27 03-05..03-10
                --- active_periods from-reversal
                paid monthly 02-10..02-27 refunded
                paid monthly 03-05..03-10 expired
                grace monthly 03-10..03-26 open
                active 02-10..02-27 03-05..03-26
                """
        )
    }

    @Test func `an explanation under another policy names it and answers by it`() throws {
        let history = try RecordedStory(ExplanationTests.march).history
        let asked = try TimelineText.instant("03-03T09:00:00")
        let policy = AccessPolicy(
            graceCounts: true,
            familyCounts: true,
            reversalIsRetroactive: false
        )
        let explanation = Explanation([history], at: asked, under: policy)
        #expect(explanation.policy == policy)
        #expect(explanation.entitled.reason == .refunded)
        #expect(explanation.difference == nil)
        let current = Explanation([history], at: asked)
        #expect(current.policy == .current)
        #expect(current.entitled.hasAccess)
    }
}
