import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// Reports of what opens a month, what moves in it, and what closes it.
///
/// `SUBLEDGER_POSITIONS` sets at how many positions of the log the law holds; each is a ledger of its
/// own, whose late facts are still to come.
@Suite(.enabled { await TestServer.isAvailable })
struct MonthMovementTests {
    /// A report with what opens a month, what moves, and what closes it.
    private struct Movement {
        let name: String
        let opening: String
        let closing: String
        let added: [String]
        var taken: [String] = []
    }

    private static let deferred = Movement(
        name: "deferred-revenue",
        opening: "openingDeferredMilliunits",
        closing: "closingDeferredMilliunits",
        added: ["grossMilliunits"],
        taken: [
            "givenBackOnRefundDateMilliunits", "upgradeRefundEstimateMilliunits",
            "recognisedMilliunits",
        ]
    )

    private static let recurring = Movement(
        name: "mrr-movement",
        opening: "openingMrrMilliunits",
        closing: "closingMrrMilliunits",
        added: [
            "newMrrMilliunits", "reactivationMrrMilliunits", "expansionMrrMilliunits",
            "contractionMrrMilliunits", "churnedMrrMilliunits", "transferredMrrMilliunits",
        ]
    )

    @Test func `a month opens with what closed the last, at every position and breakdown`()
        async throws
    {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = TestSupport.SeededGenerator(seed: seed)
        try await Analytics.withLedger { _, ledger in
            let head = try await ledger.log.heads().values.reduce(0) { max($0, $1.offset) }
            let breakdowns: [[Report.Dimension]] = [
                [.month], [.month, .product], [.month, .country, .offer], [.fiscalMonth, .product],
            ]
            for report in [Self.deferred, Self.recurring] {
                for by in breakdowns {
                    try await Self.check(report, by, nil, of: ledger, "live")
                }
                for _ in 0..<Self.positions {
                    let offset = Int64.random(in: head / 4...head, using: &random)
                    try await Self.check(report, breakdowns[1], offset, of: ledger, "seed \(seed)")
                }
            }
        }
    }

    private static let positions =
        ProcessInfo.processInfo.environment["SUBLEDGER_POSITIONS"].flatMap(Int.init) ?? 2

    private static func check(
        _ report: Movement,
        _ by: [Report.Dimension],
        _ offset: Int64?,
        of ledger: Ledger,
        _ note: String
    ) async throws {
        var question = ReportQuestion(try #require(Report.named(report.name)))
        question.dimensions = by
        question.to = Instant("2027-12-31")
        question.knownAt = offset.map { .offsets([0: $0]) }
        let rows = try await ledger.report(question).rows.map(ReportRow.init)
        #expect(rows.count > 20, "\(report.name) \(note)")
        var months: [String: [String: ReportRow]] = [:]
        for row in rows {
            let group = ["productId", "country", "offerType", "currency"].map { row[$0] }
            let month = by.contains(.month) ? row["month"] : row["fiscalMonth"]
            months[group.joined(separator: " "), default: [:]][month] = row
            let moved =
                report.added.reduce(0) { $0 + row.number($1) }
                - report.taken.reduce(0) { $0 + row.number($1) }
            #expect(row.number(report.opening) + moved == row.number(report.closing), "\(row)")
        }
        let all = Set(months.values.flatMap(\.keys)).sorted()
        for (group, found) in months {
            for (month, next) in zip(all, all.dropFirst()) {
                let closing = found[month]?.number(report.closing) ?? 0
                let opening = found[next]?.number(report.opening) ?? 0
                #expect(closing == opening, "\(report.name) \(group) \(month), \(note)")
            }
        }
        // What is transferred adds up to nothing, but for what changed its currency.
        if by == [.month, .country, .offer], report.name == recurring.name {
            #expect(rows.contains { $0.number("transferredMrrMilliunits") != 0 })
        }
    }

    @Test func `movements agree with the reports of the same money`() async throws {
        try await Analytics.withLedger { _, ledger in
            let deferred = try await Self.rows("deferred-revenue", of: ledger)
            let revenue = try await Self.rows("revenue", of: ledger)
            for name in [
                "grossMilliunits", "givenBackOnRefundDateMilliunits",
                "upgradeRefundEstimateMilliunits",
            ] {
                let expected = Self.table(revenue, name)
                #expect(Self.table(deferred, name) == expected, "\(name)")
                #expect(expected.count > 5, "\(name)")
            }
            let movement = try await Self.rows("mrr-movement", of: ledger)
            let recurring = try await Self.rows("mrr", of: ledger, by: [])
            var expected: [String: Int64] = [:]
            for row in recurring where row.number("mrrMilliunits") != 0 {
                expected["\(row["day"].prefix(7)) \(row["currency"])"] = row.number("mrrMilliunits")
            }
            #expect(Self.table(movement, "closingMrrMilliunits") == expected)
            #expect(movement.contains { $0.number("reactivationMrrMilliunits") > 0 })
            #expect(movement.contains { $0.number("contractionMrrMilliunits") < 0 })
            #expect(movement.allSatisfy { $0.number("transferredMrrMilliunits") == 0 })
            let refunds = try await Self.rows("refunds", of: ledger)
            #expect(
                Self.table(refunds, "givenBackOnRefundDateMilliunits")
                    == Self.table(revenue, "givenBackOnRefundDateMilliunits")
            )
            #expect(refunds.contains { $0["refundReason"] == "app_issue" })
            #expect(refunds.contains { $0.number("refundsReversed") > 0 })
        }
    }

    @Test func `an upgrade ends a period, and a signed refund takes the place of its estimate`()
        async throws
    {
        let (plus, pro) = (SimulatedCatalog.lumen[4], SimulatedCatalog.lumen[1])
        let life: [LifeStep] = try [
            .subscribe(plus, offer: nil, at: Self.at("2026-01-01")),
            .changeNow(to: pro, offer: nil, at: Self.at("2026-03-02")),
        ]
        let refund = LifeStep.refund(purchase: 0, percentage: nil, at: try Self.at("2026-04-10"))
        let (old, new) = (79_990 as Int64, 119_990 as Int64)
        func earned(_ price: Int64, _ days: Int64) -> Int64 { price * days / 365 }
        // Of 79.99, the share of 305 days of 365; of what Apple signed, all of it.
        for (steps, estimate, refunded) in [
            (life, 66_841, 0), (life + [refund], 0, old),
        ] as [([LifeStep], Int64, Int64)] {
            try await FilledLedger.withLives([steps, Self.later()]) { ledger, session in
                let found = try await session.query(
                    "SELECT estimated_refund_milliunits FROM projection.plan_changes"
                ).single().int8IfPresent(0)
                #expect(found ?? 0 == estimate)
                let months: [[Int64]] = [
                    // Gross, given back, estimate, recognised.
                    [old, 0, 0, earned(old, 31)],
                    [0, 0, 0, earned(old, 59) - earned(old, 31)],
                    [new, 0, estimate, old - estimate - earned(old, 59) + earned(new, 30)],
                    [0, refunded, 0, -refunded + earned(new, 60) - earned(new, 30)],
                    [0, 0, 0, earned(new, 91) - earned(new, 60)],
                ]
                let rows = try await Self.rows("deferred-revenue", of: ledger, to: "2026-05-31")
                #expect(rows.map(Self.moved) == months)
                let closing = rows.last?.number("closingDeferredMilliunits")
                #expect(closing == new - earned(new, 91))
            }
        }
    }

    @Test func `refunds, reversals, parts and extensions change what is earned`() async throws {
        let monthly = SimulatedCatalog.lumen[2]
        let price = monthly.dollarMilliunits
        let start = LifeStep.subscribe(monthly, offer: nil, at: try Self.at("2026-01-05"))
        let off = LifeStep.turnAutoRenewOff(at: try Self.at("2026-01-10"))
        let expectations: [(steps: [LifeStep], months: [[Int64]])] = try [
            (
                [
                    .refund(purchase: 0, percentage: nil, at: Self.at("2026-01-20")),
                    .reverseRefund(purchase: 0, at: Self.at("2026-02-10")),
                ],
                [[price, price, 0, 0], [0, -price, 0, price]]
            ),
            (
                [.refund(purchase: 0, percentage: 40_000, at: Self.at("2026-01-20"))],
                [[price, price * 2 / 5, 0, price * 3 / 5], [0, 0, 0, 0]]
            ),
            (
                [off, .extend(days: 30, at: Self.at("2026-01-20"))],
                [
                    [price, 0, 0, price * 27 / 61], [0, 0, 0, price * 55 / 61 - price * 27 / 61],
                    [0, 0, 0, price - price * 55 / 61],
                ]
            ),
        ]
        for (steps, months) in expectations {
            try await FilledLedger.withLives([[start] + steps, Self.later()]) { ledger, _ in
                let last = ["2026-01-31", "2026-02-28", "2026-03-31"][months.count - 1]
                let rows = try await Self.rows("deferred-revenue", of: ledger, to: last)
                #expect(rows.map(Self.moved) == months, "\(steps)")
            }
        }
    }

    @Test func `an upgrade of a period with added seats gives back the rest of all of them`()
        async throws
    {
        let team = SimulatedCatalog.atlas[1]
        let life: [LifeStep] = try [
            .buySeats(team, SimulatedSeats(3), at: Self.at("2026-01-01")),
            .addSeats(2, at: Self.at("2026-01-11")),
            .changeNow(to: SimulatedCatalog.atlas[0], offer: nil, at: Self.at("2026-01-21")),
        ]
        try await FilledLedger.withLives([life, Self.later()]) { ledger, session in
            let estimate = try await session.query(
                """
                SELECT estimated_refund_milliunits FROM projection.plan_changes
                WHERE estimated_refund_milliunits IS NOT NULL
                """
            ).single().int8(0)
            let main = 3 * team.dollarMilliunits
            #expect(estimate > main * 11 / 31, "the added seats, too")
            for name in ["deferred-revenue", "revenue"] {
                let rows = try await Self.rows(name, of: ledger, by: [.month, .country])
                let found = rows.filter { $0.number("upgradeRefundEstimateMilliunits") != 0 }
                #expect(
                    found.map { $0.number("upgradeRefundEstimateMilliunits") } == [estimate],
                    "\(name)"
                )
                #expect(found.allSatisfy { !$0["country"].isEmpty }, "\(name)")
            }
        }
    }

    @Test func `a refund of a part of all seats ends their period, until it is reversed`()
        async throws
    {
        let life: [LifeStep] = try [
            .buySeats(SimulatedCatalog.atlas[1], SimulatedSeats(2), at: Self.at("2026-01-05")),
            .refund(purchase: 0, percentage: 40_000, at: Self.at("2026-01-20")),
            .reverseRefund(purchase: 0, at: Self.at("2026-02-10")),
        ]
        try await FilledLedger.withLives([life, Self.later()]) { ledger, session in
            let price = try await session.query(
                "SELECT max(purchase_price_milliunits) FROM projection.transactions"
            ).single().int8(0)
            let rows = try await Self.rows("deferred-revenue", of: ledger, to: "2026-02-28")
            let part = price * 2 / 5
            #expect(
                rows.map(Self.moved) == [[price, part, 0, price - part], [0, -part, 0, part]]
            )
        }
    }

    @Test func `an upgrade of what goes on under another id keeps its estimate`()
        async throws
    {
        let lives: [[LifeStep]] = try [
            [.subscribe(SimulatedCatalog.lumen[2], offer: nil, at: Self.at("2026-01-01"))],
            [
                .subscribe(SimulatedCatalog.lumen[4], offer: nil, at: Self.at("2026-02-01")),
                .changeNow(to: SimulatedCatalog.lumen[1], offer: nil, at: Self.at("2026-03-05")),
            ],
        ]
        try await FilledLedger.withLives(lives + [Self.later()]) { ledger, session in
            func estimates() async throws -> [String] {
                var found: [String] = []
                for name in ["revenue", "deferred-revenue"] {
                    for row in try await Self.rows(name, of: ledger, by: [.product, .country]) {
                        let estimate = row.number("upgradeRefundEstimateMilliunits")
                        if estimate != 0 { found.append("\(row["productId"]) \(estimate)") }
                        #expect(!row["country"].isEmpty, "\(name)")
                    }
                }
                return found
            }
            let alone = try await estimates()
            #expect(alone.count == 2 && Set(alone).count == 1, "\(alone)")
            try await session.execute(
                """
                UPDATE projection.transactions t
                SET continued_original_transaction_id = (
                    SELECT min(f.original_transaction_id) FROM projection.transactions f)
                WHERE t.original_transaction_id IN (
                    SELECT c.original_transaction_id FROM projection.plan_changes c)
                """
            )
            let joined = try await estimates()
            #expect(joined == alone, "\(joined)")
        }
    }

    @Test func `weeks begin on Monday, and add up to the months`() async throws {
        try await Analytics.withLedger { _, ledger in
            var marks: Set<String> = []
            for name in ["renewals", "revenue", "refunds", "refund-rate", "trial-conversion"] {
                var question = ReportQuestion(try #require(Report.named(name)))
                question.dimensions = [.week]
                question.to = Instant("2027-12-31")
                let report = try await ledger.report(question)
                let weeks = report.rows.map(ReportRow.init)
                let months = try await Self.rows(name, of: ledger, by: [.month])
                let column = [
                    "renewals": "paymentsCount", "revenue": "grossMilliunits",
                    "refunds": "refundsCount", "refund-rate": "paidPurchases",
                    "trial-conversion": "trialStarts",
                ][name, default: ""]
                #expect(weeks.count > months.count)
                #expect(
                    weeks.reduce(0) { $0 + $1.number(column) }
                        == months.reduce(0) { $0 + $1.number(column) }
                )
                for row in weeks {
                    let monday = try Self.at(row["week"])
                    // 5 January 1970 was a Monday.
                    #expect((monday.milliseconds / 86_400_000 - 4) % 7 == 0, "\(row)")
                    let isWhole =
                        row["week"] >= report.from
                        && monday.milliseconds + 7 * 86_400_000 <= report.asOf.milliseconds
                    #expect(row["isPartial"] == "\(!isWhole)", "\(row)")
                }
                marks.formUnion(weeks.map { $0["isPartial"] })
            }
            #expect(marks == ["true", "false"])
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.dimensions = [.month, .week]
            await #expect(throws: QuestionError.self) { try await ledger.report(question) }
        }
    }

    // Gross, given back, estimate and recognised of a row.
    private static func moved(_ row: ReportRow) -> [Int64] {
        (deferred.added + deferred.taken).map { row.number($0) }
    }

    // Without money: Apple's newest signature is of this instant.
    private static func later() throws -> [LifeStep] {
        [.subscribe(SimulatedCatalog.lumen[2], offer: .free(.weeks(2)), at: try at("2026-08-01"))]
    }

    private static func at(_ text: String) throws -> Instant { try #require(Instant(text)) }

    private static func table(_ rows: [ReportRow], _ name: String) -> [String: Int64] {
        var table: [String: Int64] = [:]
        for row in rows where row.number(name) != 0 {
            table["\(row["month"]) \(row["currency"])", default: 0] += row.number(name)
        }
        return table.filter { $0.value != 0 }
    }

    private static func rows(
        _ name: String,
        of ledger: Ledger,
        by: [Report.Dimension]? = nil,
        to: String = "2027-12-31"
    ) async throws -> [ReportRow] {
        var question = ReportQuestion(try #require(Report.named(name)))
        question.dimensions = by
        question.to = Instant(to)
        return try await ledger.report(question).rows.map(ReportRow.init)
    }
}
