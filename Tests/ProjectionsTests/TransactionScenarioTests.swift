import Events
import Projections
import Testing
import TestSupport

/// Purchases as analysts need them (Apple's data: traps 4, 16, 19, 21).
@Suite struct TransactionScenarioTests {
    @Test func `a converted trial is the first of the chain but not a paid period`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..03-08 woli=1 offer=1 discount=FREE_TRIAL price=0
            @03-08 purchase basic 03-08..04-08 woli=2 price=990 reason=RENEWAL
            @04-08 purchase basic 04-08..05-08 woli=3 price=990 reason=RENEWAL
            --- transactions
            basic 03-01..03-08 trial n=1 paid=0 0/0
            basic 03-08..04-08 n=2 paid=1 conversion 990/990
            basic 04-08..05-08 n=3 paid=2 990/990
            """
        )
    }

    @Test func `a lapse starts a new chain and its length is recorded`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @04-02 purchase basic 04-01T00:10:00..05-01 woli=2 reason=PURCHASE
            @06-01 purchase premium 06-01..07-01 woli=3 reason=PURCHASE
            --- transactions
            basic 03-01..04-01 n=1 paid=1
            basic 04-01T00:10:00..05-01 n=1 paid=1 again=600
            premium 06-01..07-01 n=1 paid=1 again=2678400 upgrade from=basic
            """
        )
    }

    @Test func `a gap of seconds without a reason is a late renewal`() throws {
        try expect(
            """
            @04-02 purchase basic 03-01..04-01 woli=1 via=response
            @04-02 purchase basic 04-01T00:02:00..05-01 woli=2 via=response
            @06-02 purchase basic 05-01T00:02:01..06-01 woli=3 via=response
            --- transactions
            basic 03-01..04-01 n=1 paid=1
            basic 04-01T00:02:00..05-01 n=2 paid=2
            basic 05-01T00:02:01..06-01 n=1 paid=1 again=121
            """
        )
    }

    @Test func `a recovery in retry continues the chain, and the failure is recorded`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 auto=1 retry
            @05-05 purchase basic 05-05..06-05 woli=2
            --- transactions
            basic 03-20..04-20 n=1 paid=1 failed=04-20
            basic 05-05..06-05 n=2 paid=2
            """
        )
    }

    @Test func `grace extends the purchase that it follows`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            --- transactions
            basic 03-20..04-20 until=05-06 grace=05-06 n=1 paid=1 failed=04-20
            """
        )
    }

    @Test func `a refund is deducted from the price, and its reversal restores it`() throws {
        let refunded = """
            @03-20 purchase basic 03-20..04-20 woli=1 price=990
            @04-02 purchase basic 03-20..04-20 woli=1 price=990 revoked=04-02 percentage=25000 \
            type=REFUND_PRORATED
            """
        try expect(
            refunded + """

                --- transactions
                basic 03-20..04-20 until=04-02 n=1 paid=1 refunded=04-02 742/990
                """
        )
        try expect(
            refunded + """

                @04-09 purchase basic 03-20..04-20 woli=1 price=990
                --- transactions
                basic 03-20..04-20 n=1 paid=1 990/990
                """
        )
    }

    @Test
    func `money back for the rest of a replaced period is not a refund, and its amount is unknown`()
        throws
    {
        try expect(
            """
            @04-23T10:00 purchase basic 04-14..05-14 woli=2 revoked=04-23T09:00:02 price=990
            @04-23T10:00 purchase premium 04-23T09:00:00..05-23T09:00:00 woli=3 price=1990
            --- transactions
            basic 04-14..05-14 until=04-23T09:00:00 n=1 paid=1 ?/990
            premium 04-23T09:00:00..05-23T09:00:00 n=2 paid=2 upgrade from=basic 1990/1990
            """
        )
    }

    @Test func `an opt-out counts from its first report, if it still holds at the end`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @03-05 renewal of=04-01 auto=0
            @03-07 renewal of=04-01 auto=1
            @04-01 purchase basic 04-01..05-01 woli=2
            @04-09 renewal of=05-01 auto=0
            @04-12 renewal of=05-01 auto=0
            --- transactions
            basic 03-01..04-01 n=1 paid=1
            basic 04-01..05-01 n=2 paid=2 unsubscribed=04-09
            """
        )
    }

    @Test func `a notification alone shows that the renewal failed`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-19T23:00 notice DID_FAIL_TO_RENEW uuid=n1 status=3 about=03-20
            --- transactions
            basic 03-20..04-20 n=1 paid=1 failed=04-19T23:00:00
            """
        )
    }

    @Test
    func `a customer who buys again before the end has not unsubscribed from the replaced period`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1
            @03-05 renewal of=04-01 auto=0
            @03-09 purchase premium 03-09..04-09 woli=2
            @03-09 renewal of=04-09 auto=1
            @04-09 renewal of=04-09 auto=0
            --- transactions
            basic 03-01..04-01 until=03-09 n=1 paid=1
            premium 03-09..04-09 n=2 paid=2 upgrade from=basic unsubscribed=04-09
            """
        )
    }

    @Test func `a family member has paid nothing`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 woli=1 family
            @03-09 purchase basic 03-01..04-01 woli=1 family revoked=03-09
            --- transactions
            basic 03-01..04-01 until=03-09 n=1 paid=0 refunded=03-09
            """
        )
    }

    @Test func `a one-time purchase never ends unless it is refunded`() throws {
        try expect(
            """
            @05-02 once coins 05-01 price=4990
            @05-02 once gems 05-02 price=990 revoked=05-02T09:00:00
            --- transactions
            coins 05-01.. 4990/4990
            gems 05-02.. until=05-02T09:00:00 refunded=05-02T09:00:00 0/990
            """
        )
    }

    @Test func `of several ids the shortest and lowest is the transaction's`() throws {
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 id=1000
            @03-21 purchase basic 03-20..04-20 woli=1 id=999
            @03-22 purchase basic 03-20..04-20 woli=1 id=1001
            --- transactions
            basic 03-20..04-20 n=1 paid=1
            """
        )
        let rows = TransactionRows(ledger.timeline(of: TimelineText.stream), .magazines).rows
        let row = try #require(rows.first)
        #expect(row.ids.storeTransactionId == "999")
        #expect(row.ids.duplicateTransactionIds == ["1000", "1001"])
        #expect(row.product.duration == SubscriptionPeriod("P1M"))
        #expect(row.product.subscriptionGroupIdentifier == "magazines")
        #expect(row.product.groupLevel == 2)
    }
}
