import Events
import Projections
import TestSupport
import Testing

/// What Apple announces and signs as status against its dates (Decisions: a status that Apple
/// signs).
struct StatusPrecedenceTests {
    private let announced = """
        @03-01 purchase basic 03-01..04-01 price=990
        @03-10 purchase basic 03-01..04-01 price=990
        @03-10T00:00:00.500 notice REFUND uuid=n1 status=5 about=03-01..04-01

        """

    @Test func `a refund that the transaction signed with it denies is none in any table`() throws {
        try expect(
            announced + """
                ---
                paid basic 03-01..04-01 open
                active 03-01..04-01
                --- refunds
                reversed untyped basic 03-01 told=03-10T00:00:00.500 inferred=03-10T00:00:00.500 \
                0/990 net
                --- renewal_states
                active waiting 03-01..04-01
                --- transactions
                basic 03-01..04-01 n=1 paid=1 990/990
                --- movements
                03-01 paid_start basic 990 "Subscribe"
                03-10T00:00:00.500 exit_refund basic "Refund"
                03-10T00:00:00.500 refund_reversed basic
                """
        )
    }

    @Test func `a date that Apple states later makes it a refund from that date`() throws {
        try expect(
            announced + """
                @03-20 purchase basic 03-01..04-01 price=990 revoked=03-10
                ---
                paid basic 03-01..03-10 refunded
                active 03-01..03-10
                --- refunds
                refunded untyped current basic 03-01 revoked=03-10 told=03-20 990/990 net
                --- renewal_states
                active waiting 03-01..03-10
                revoked closed 03-10..
                """
        )
    }

    @Test func `a refund that is only announced holds until a statement has none`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 price=990
            @03-10 notice REFUND uuid=n1 status=5 about=03-01..04-01
            ---
            paid basic 03-01..04-01 open
            active 03-01..04-01
            --- refunds
            refunded untyped basic 03-01 told=03-10 ?/990 net
            """
        )
    }

    @Test func `drift lists the status that the dates contradict`() throws {
        let ledger = MemoryLedger([try TimelineText(announced).facts])
        let report = Drift.check(ledger.history(of: TimelineText.stream))
        #expect(report.disagreements.map(\.apple) == ["revoked"])
        #expect(report.disagreements.map(\.ours) == ["active"])
    }

    @Test func `a cancellation and a revocation in one millisecond end a grace as revoked`() throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 price=990
            @04-01 renewal of=04-01 auto=1 retry grace=04-17
            @04-05 renewal of=04-01 auto=0 grace=04-17
            @04-05 purchase basic 03-01..04-01 price=990 revoked=04-05
            ---
            paid basic 03-01..04-01 expired
            grace basic 04-01..04-05 refunded
            active 03-01..04-05
            """
        )
    }
}
