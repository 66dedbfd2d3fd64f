import Projections
import TestSupport
import Testing

/// Several transactions of seats with one product, start and end (Decisions: seats as one period).
struct SeatTransactionTests {
    @Test func `seats bought and added in one second are two payments for one period`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-01 purchase basic 03-01..04-01 id=12 woli=2 seats=2x1000 added
            @03-05 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000 added
            @03-05 purchase basic 03-01..04-01 id=12 woli=2 seats=2x1000 added
            @04-01 purchase basic 04-01..05-01 id=13 woli=3 seats=10x1000 reason=RENEWAL
            ---
            paid basic 03-01..04-01 expired seats=10
            paid basic 04-01..05-01 open seats=10
            active 03-01..05-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 8000/8000 seats=8/8
            basic 03-01..04-01 n=1 paid=1 2000/2000 seats=2/2 added-to=03-01
            basic 04-01..05-01 n=2 paid=2 10000/10000 seats=10/10
            --- movements
            03-01 paid_start basic 8000 seats=8 "Subscribe"
            03-01 seats_added basic 2000 seats=2
            04-01 renewal basic 10000 seats=10 "Renew"
            --- refunds
            --- plan_changes
            effective now plan_change basic..basic effective=03-01 seats=8..10
            """
        )
    }

    @Test func `two equal additions of one second are two payments if their line items differ`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added
            @03-11 purchase basic 03-11..04-01 id=13 woli=3 seats=4x500 added
            ---
            paid basic 03-01..04-01 open seats=16
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 8000/8000 seats=8/8
            basic 03-11..04-01 n=1 paid=1 2000/2000 seats=4/4 added-to=03-01
            basic 03-11..04-01 n=1 paid=1 2000/2000 seats=4/4 added-to=03-01
            """
        )
    }

    // Whether Apple gives an addition a line item of its own is not confirmed.
    @Test(arguments: ["woli=1", "woli=0", ""])
    func `additions of one second with one line item are told apart by their seats`(
        lineItem: String
    )
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 \(lineItem) seats=8x1000
            @03-11 purchase basic 03-11..04-01 id=12 \(lineItem) seats=4x500 added
            @03-11 purchase basic 03-11..04-01 id=13 \(lineItem) seats=2x500 added
            @03-20 purchase basic 03-11..04-01 id=12 \(lineItem) seats=4x500 added
            ---
            paid basic 03-01..04-01 open seats=14
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 8000/8000 seats=8/8
            basic 03-11..04-01 n=1 paid=1 2000/2000 seats=4/4 added-to=03-01
            basic 03-11..04-01 n=1 paid=1 1000/1000 seats=2/2 added-to=03-01
            """
        )
    }

    @Test func `a restored purchase of seats is one payment under two ids`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-05 purchase basic 03-01..04-01 id=21 woli=1 seats=8x1000
            @03-06 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000 taken=2
            ---
            paid basic 03-01..04-01 open seats=6
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 refunded=03-06 6000/8000 seats=6/8
            """
        )
    }

    @Test func `of two additions of one second each is refunded on its own, and reversed`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added
            @03-11 purchase basic 03-11..04-01 id=13 woli=3 seats=4x500 added
            @03-20 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added revoked=03-20
            @03-20 purchase basic 03-11..04-01 id=13 woli=3 seats=4x500 added
            @03-21 purchase basic 03-11..04-01 id=13 woli=3 seats=4x500 added revoked=03-21
            @03-22 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added revoked=03-20
            @03-22 purchase basic 03-11..04-01 id=13 woli=3 seats=4x500 added
            ---
            paid basic 03-01..04-01 open seats=12
            active 03-01..04-01
            --- refunds
            refunded untyped current basic 03-11 revoked=03-20 2000/2000 net
            reversed untyped current basic 03-11 revoked=03-21 inferred=03-22 0/2000 net
            """
        )
    }

    @Test func `each refund belongs to one of two equal payments of one second`() throws {
        let facts = try TimelineText(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added
            @03-11 purchase basic 03-11..04-01 id=13 woli=3 seats=4x500 added revoked=03-21
            """
        ).facts
        let timeline = Timeline(MemoryLedger([facts]).history(of: TimelineText.stream))
        let rows = TransactionRows(timeline, .none).rows
        let refund = try #require(Refunds(timeline).rows.first)
        let about = rows.filter(refund.isAbout)
        #expect(rows.count == 3)
        #expect(about.map(\.ids.storeTransactionId) == ["13"])
    }

    @Test func `a notice about one second is about what was refunded in it`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-01 purchase basic 03-01..04-01 id=12 woli=2 seats=2x1000 added
            @03-05 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000 added revoked=03-05
            @03-05 notice REFUND uuid=n1 about=03-01..04-01
            @03-07 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000 added
            @03-07 notice REFUND_REVERSED uuid=n2 about=03-01..04-01
            ---
            paid basic 03-01..04-01 open seats=10
            active 03-01..04-01
            --- refunds
            reversed untyped current basic 03-01 revoked=03-05 announced=03-07 0/8000 net
            """
        )
    }

    @Test func `a purchase and an addition of one second end when both are refunded`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000 added revoked=03-05
            @03-01 purchase basic 03-01..04-01 id=12 woli=2 seats=2x1000 added revoked=03-09
            ---
            paid basic 03-01..03-09 refunded seats=0
            active 03-01..03-09
            """
        )
    }

    @Test func `added seats are found by their ids, and claim with their own token`() throws {
        let facts = try TimelineText(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000 token=anna
            @03-11 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added token=ben
            """
        ).facts
        let history = MemoryLedger([facts]).history(of: TimelineText.stream)
        let stream = CustomerStream(history, receipts: [])
        #expect(stream.transactionIds == ["11", "12"])
        #expect(stream.webOrderLineItemIds == ["1", "2"])
        #expect(stream.claims.tokens.map(\.token) == ["anna", "ben"])
        #expect(stream.claims.tokens.map { TimelineText.text($0.from) } == ["03-01", "03-11"])
    }

    // Apple signs the new end for the transaction that a notification is about.
    @Test func `added seats end with their period, whichever transaction Apple extends`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=8x1000
            @03-11 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added
            @03-20 purchase basic 03-01..04-08 id=11 woli=1 seats=8x1000 added
            @03-25 purchase basic 03-11..04-01 id=12 woli=2 seats=4x500 added revoked=03-25
            --- transactions
            basic 03-01..04-08 n=1 paid=1 8000/8000 seats=8/8
            basic 03-11..04-08 until=03-25 n=1 paid=1 refunded=03-25 0/2000 seats=4/4 \
            added-to=03-01
            """
        )
    }
}
