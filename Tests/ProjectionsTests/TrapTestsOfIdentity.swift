import Events
import Projections
import Testing
import TestSupport

/// Traps about which purchase, which subscription and which moment is meant (Apple's data: traps).
@Suite struct TrapTestsOfIdentity {
    @Test func `the original id stays the same while each renewal has a new id`() throws {
        // Apple's data: trap 1
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 id=1000 woli=1
            @04-20 purchase basic 04-20..05-20 id=1007 woli=2 reason=RENEWAL
            @05-20 purchase basic 05-20..06-20 id=0999 woli=3 reason=RENEWAL
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 expired
            paid basic 05-20..06-20 open
            active 03-20..06-20
            --- transactions
            basic 03-20..04-20 n=1 paid=1
            basic 04-20..05-20 n=2 paid=2
            basic 05-20..06-20 n=3 paid=3
            """
        )
        #expect(ledger.streams == [TimelineText.stream])
    }

    @Test func `a returning subscriber keeps the original id, with the lapse as a gap`() throws {
        // Apple's data: trap 2
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1 price=9990
            @04-20 notice EXPIRED VOLUNTARY uuid=n1 status=2
            @04-20 renewal of=04-20 auto=0 intent=1
            @06-17 notice SUBSCRIBED RESUBSCRIBE uuid=n2 status=1
            @06-17 purchase premium 06-17..07-17 woli=2 price=19990 reason=PURCHASE
            @06-17 renewal of=07-17 auto=1
            ---
            paid basic 03-20..04-20 expired because=customer
            paid premium 06-17..07-17 open
            active 03-20..04-20 06-17..07-17
            --- renewal_states
            active waiting 03-20..04-20
            expired closed 04-20..06-17 off because=customer
            active waiting 06-17..07-17 on
            --- plan_changes
            effective resubscribe upgrade basic..premium effective=06-17 same
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-20 churn_voluntary basic because=customer "Cancel"
            04-20 auto_renew_off basic
            06-17 paid_start premium was=basic 19990 again "Reactivate with Upgrade"
            """
        )
    }

    @Test func `a restore that is dated later does not move the start of its period`() throws {
        // Apple's data: trap 15
        for restore in ["@04-10 purchase basic 04-05..05-01", "@04-01 purchase basic 03-30..05-01"]
        {
            let start = restore.contains("03-30") ? "03-30" : "04-01"
            try expect(
                """
                @04-02 purchase basic 04-01..05-01 woli=1
                \(restore) woli=1 via=response
                ---
                paid basic \(start)..05-01 open
                active \(start)..05-01
                """
            )
        }
    }

    @Test func `a purchase is identified by original id, start and end together`() throws {
        // Apple's data: trap 5. A key of only id and end would merge two of these.
        let ledger = try expect(
            """
            @04-21 purchase basic 03-20..05-20 id=a
            @04-21 purchase basic 04-20..05-20 id=b
            @04-22 purchase basic 04-20..05-20 id=c
            ---
            paid basic 03-20..04-20 replaced
            paid basic 04-20..05-20 open
            active 03-20..05-20
            """
        )
        let purchases = ledger.timeline(of: TimelineText.stream).purchases
        #expect(purchases.map(\.transactionIds) == [["a"], ["b", "c"]])
    }

    @Test func `a line item identifies a purchase on every device, but Xcode's 0 identifies none`()
        throws
    {
        // Apple's data: trap 6
        let ledger = try expect(
            """
            @03-21 purchase basic 03-20..04-20 woli=190001007274949 id=190002223966278
            @03-22 purchase basic 03-20T00:00:01..04-20 woli=190001007274949 id=190002224000004
            @05-25 purchase basic 04-20..05-20 woli=0 id=x1
            @05-25 purchase basic 05-20..06-20 woli=0 id=x2
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 expired
            paid basic 05-20..06-20 open
            active 03-20..06-20
            """
        )
        let first = try #require(ledger.timeline(of: TimelineText.stream).purchases.first)
        #expect(first.transactionIds == ["190002223966278", "190002224000004"])
    }

    @Test(arguments: ["null", "00000000-0000-0000-0000-000000000000", "000", "(null)"])
    func `a line item that identifies nothing joins no periods`(text: String) throws {
        // Apple's data: trap 49
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=\(text) id=x1
            @04-20 purchase basic 04-20..05-20 woli=\(text) id=x2
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-20..05-20 open
            active 03-20..05-20
            """
        )
    }

    @Test func `an extended period is the same purchase with a later end, in every table`() throws {
        // Apple's data: trap 7
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=7 price=9990
            @04-10 notice RENEWAL_EXTENDED uuid=n1 status=1 about=03-20
            @04-10 purchase basic 03-20..05-04 woli=7 price=9990
            @04-10 renewal of=05-04 auto=1
            ---
            paid basic 03-20..05-04 open
            active 03-20..05-04
            --- renewal_states
            active waiting 03-20..04-10
            active waiting 04-10..05-04 on
            --- refunds
            --- transactions
            basic 03-20..05-04 n=1 paid=1 9990/9990
            --- movements
            03-20 paid_start basic 9990 "Subscribe"
            04-10 extension basic
            """
        )
    }

    @Test func `a restore is not a purchase, of a subscription or of anything else`() throws {
        // Apple's data: trap 15
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 id=1000 woli=1 price=9990
            @03-20 once atlas 03-19 id=900 price=4990
            @04-01 purchase basic 03-20..04-20 id=1001 woli=1 price=9990
            @04-01 once atlas 03-19 id=901 price=4990
            ---
            paid basic 03-20..04-20 open
            active 03-20..04-20
            --- transactions
            atlas 03-19.. 4990/4990
            basic 03-20..04-20 n=1 paid=1 9990/9990
            --- movements
            03-19 one_time_purchase atlas 4990
            03-20 paid_start basic 9990 "Subscribe"
            """
        )
    }

    @Test func `statements of 2011 and 2099 give the same rows, without a clock of ours`() throws {
        // Apple's data: trap 38
        var rows: [[String]] = []
        for year in ["2011", "2099"] {
            let ledger = try expect(
                """
                @\(year)-03-21 purchase basic \(year)-03-20..\(year)-04-20
                ---
                paid basic \(year)-03-20..\(year)-04-20 open
                active \(year)-03-20..\(year)-04-20
                --- renewal_states
                active waiting \(year)-03-20..\(year)-04-20
                --- movements
                \(year)-03-20 paid_start basic "Subscribe"
                """
            )
            let timeline = ledger.timeline(of: TimelineText.stream)
            let tables = TimelineText.rowTexts.sorted { $0.key < $1.key }
            rows.append(
                tables.flatMap { name, texts in
                    texts(timeline).map { "\(name) \($0)".replacing(year, with: "YEAR") }
                }
            )
        }
        // Every table, also those that are not written out above.
        #expect(rows[0] == rows[1])
        #expect(rows[0].contains { $0.contains("YEAR") })
    }

    @Test func `Apple's recentSubscriptionStartDate bridges lapses and is not a start here`()
        throws
    {
        // Apple's data: trap 46
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @06-01 purchase basic 06-01..07-01 woli=2 reason=PURCHASE
            @06-01 renewal of=07-01 auto=1 recent=03-20
            ---
            paid basic 03-20..04-20 expired
            paid basic 06-01..07-01 open
            active 03-20..04-20 06-01..07-01
            --- transactions
            basic 03-20..04-20 n=1 paid=1
            basic 06-01..07-01 n=1 paid=1 again=3628800
            """
        )
    }
}
