import Events
import Projections
import TestSupport
import Testing

/// Refunds for which Apple states only a part, or almost nothing.
@Suite struct PartialRefundTests {
    @Test func `a percentage applies to any type of refund`() throws {
        for type in ["", " type=REFUND_GOODWILL"] {
            try expect(
                """
                @04-02 purchase basic 03-20..04-20 price=10000 revoked=04-02 percentage=67932\(type)
                --- refunds
                refunded untyped current basic 03-20 revoked=04-02 part=67932 6793/10000 net
                --- transactions
                basic 03-20..04-20 until=04-02 n=1 paid=1 refunded=04-02 3207/10000
                """
            )
        }
        try expect(
            """
            @04-02 purchase basic 03-20..04-20 price=10000 revoked=04-02
            --- refunds
            refunded untyped current basic 03-20 revoked=04-02 10000/10000 net
            """
        )
    }

    @Test func `an impossible percentage leaves the amount unknown`() throws {
        try expect(
            """
            @04-02 purchase basic 03-20..04-20 price=10000 revoked=04-02 percentage=100001
            --- refunds
            refunded untyped current basic 03-20 revoked=04-02 part=100001 ?/10000 net
            """
        )
    }

    /// Apple's `advancedCommerceInfo` with these refunds for one of two items.
    private static func commerce(_ refunds: String) -> String {
        #"extra={"advancedCommerceInfo":{"items":[{"SKU":"a","price":6000,"refunds":["#
            + refunds + #"]},{"SKU":"b","price":4000}],"period":"P1M"}}"#
    }

    private static let first =
        #"{"refundAmount":1500,"refundDate":1775000000000,"refundType":"PRORATED"}"#
    private static let second =
        #"{"refundAmount":2500,"refundDate":1775200000000,"refundType":"CUSTOM"}"#

    @Test func `a refunded item gives money back and its purchase continues`() throws {
        try expect(
            """
            @03-20 purchase bundle 03-20..04-20 price=10000
            @04-02 purchase bundle 03-20..04-20 price=10000 \(Self.commerce(Self.first))
            @04-02 notice REFUND uuid=n1 about=03-20..04-20
            --- refunds
            refunded items current bundle 03-20 revoked=03-31T23:33:20 told=04-02 1500/10000 net
            --- transactions
            bundle 03-20..04-20 n=1 paid=1 refunded=03-31T23:33:20 8500/10000
            ---
            paid bundle 03-20..04-20 open item=a//6000 item=b//4000
            active 03-20..04-20
            --- movements
            03-20 paid_start bundle 10000 "Subscribe"
            03-31T23:33:20 exit_refund bundle -1500 "Refund"
            """
        )
    }

    @Test func `refunds of items add up, and a reversal undoes them`() throws {
        let both = Self.commerce(Self.first + "," + Self.second)
        try expect(
            """
            @04-02 purchase bundle 03-20..04-20 price=10000 \(Self.commerce(Self.first))
            @04-05 purchase bundle 03-20..04-20 price=10000 \(both)
            --- refunds
            refunded items current bundle 03-20 revoked=04-03T07:06:40 told=04-02 4000/10000 net
            """
        )
        try expect(
            """
            @04-02 purchase bundle 03-20..04-20 price=10000 \(Self.commerce(Self.first))
            @04-05 purchase bundle 03-20..04-20 price=10000 \(Self.commerce(""))
            @04-05 notice REFUND_REVERSED uuid=n1 about=03-20..04-20
            --- refunds
            reversed items current bundle 03-20 revoked=03-31T23:33:20 told=04-02 \
            announced=04-05 0/10000 net
            """
        )
    }

    @Test func `item refunds still listed after their announced reversal refund nothing`()
        throws
    {
        let listed = "purchase bundle 03-20..04-20 price=10000 \(Self.commerce(Self.first))"
        try expect(
            """
            @04-02 \(listed)
            @04-05 notice REFUND_REVERSED uuid=n1 about=03-20..04-20
            @04-06 \(listed)
            @04-07 \(listed)
            --- refunds
            reversed items current bundle 03-20 revoked=03-31T23:33:20 told=04-02 \
            announced=04-05 0/10000 net
            """
        )
    }

    @Test func `an item refund that outlasts the reversal of the whole is a separate case`()
        throws
    {
        let listed = "purchase bundle 03-20..04-20 price=10000 \(Self.commerce(Self.first))"
        for repetition in ["", "@04-07 \(listed)"] {
            try expect(
                """
                @04-02 \(listed) revoked=04-01
                @04-06 \(listed)
                \(repetition)
                @04-08 \(listed)
                --- refunds
                reversed untyped current bundle 03-20 revoked=04-01 told=04-02 inferred=04-06 \
                0/10000
                refunded items current bundle 03-20 revoked=03-31T23:33:20 told=04-06 1500/10000 net
                """
            )
        }
    }

    @Test func `REFUND without a refund statement is a case with an unknown amount`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 price=10000
            @04-02 notice REFUND uuid=n1 about=03-20..04-20
            --- refunds
            refunded untyped basic 03-20 told=04-02 ?/10000 net
            ---
            paid basic 03-20..04-20 open
            active 03-20..04-20
            """
        )
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 price=10000
            @04-02 notice REFUND uuid=n1 about=03-20..04-20
            @04-09 notice REFUND_REVERSED uuid=n2 about=03-20..04-20
            --- refunds
            reversed untyped basic 03-20 told=04-02 announced=04-09 0/10000 net
            """
        )
    }

    @Test func `REFUND of an unknown purchase is listed separately until a statement explains it`()
        throws
    {
        let lost = try TimelineText("@04-02 notice REFUND uuid=n1")
        let timeline = MemoryLedger([lost.facts]).timeline(of: TimelineText.stream)
        #expect(Refunds(timeline).rows.isEmpty)
        #expect(Refunds.unplaced(in: timeline).map(\.offset) == [1])
        let told = try TimelineText(
            """
            @04-02 notice REFUND uuid=n1
            @04-02 purchase basic 03-20..04-20 revoked=04-01
            """
        )
        let known = MemoryLedger([told.facts]).timeline(of: TimelineText.stream)
        #expect(Refunds.unplaced(in: known).isEmpty)
    }
}
