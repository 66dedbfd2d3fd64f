import AppStoreSimulator
import Events
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// What a report counts on a last day that is not over, and that nothing after its last day counts.
@Suite(.enabled { await TestServer.isAvailable })
struct ReportDayTests {
    private static let monthly = SimulatedCatalog.lumen[2]

    /// One subscription runs out at noon; Apple's newest signature is of 09:00 on that day.
    private static func morning() throws -> [[LifeStep]] {
        try [
            [
                .subscribe(monthly, offer: nil, at: Self.at("2026-01-05T12:00:00Z")),
                .turnAutoRenewOff(at: Self.at("2026-01-20T12:00:00Z")),
            ],
            [.subscribe(monthly, offer: nil, at: Self.at("2026-02-05T09:00:00Z"))],
        ]
    }

    @Test func `a day that is not over counts as of the newest signature`() async throws {
        try await FilledLedger.withLives(Self.morning()) { ledger, session in
            let running = try await session.query(
                """
                SELECT count(*) FROM projection.transactions
                WHERE start_time <= analytics.last_signed_at()
                    AND effective_end_time > analytics.last_signed_at()
                """
            ).single().int8(0)
            #expect(running == 2)
            let active = try await Self.rows("active", of: ledger, to: "2026-02-05")
            #expect(active.last?["day"] == "2026-02-05")
            #expect(active.last?.number("activePaid") == running)
            let mrr = try await Self.rows("mrr", of: ledger, to: "2026-02-05").filter {
                $0["day"] == "2026-02-05"
            }
            #expect(mrr.reduce(0) { $0 + $1.number("activePaid") } == running)
            let churn = try await Self.rows("churn", of: ledger, to: "2026-02-05")
            #expect(churn.last?["month"] == "2026-02")
            #expect(churn.last?.number("activeAtStart") == 1 && churn.last?.number("lost") == 0)
        }
    }

    @Test func `no report has a row after the newest signature`() async throws {
        try await FilledLedger.withLives(Self.morning()) { ledger, _ in
            for report in Report.all {
                let rows = try await Self.rows(report.name, of: ledger, to: "2026-12-31")
                for row in rows {
                    #expect(row["day"] <= "2026-02-05", "\(report.name): \(row)")
                    #expect(row["month"] <= "2026-02", "\(report.name): \(row)")
                }
                let later = try await Self.rows(
                    report.name,
                    of: ledger,
                    from: "2026-02-06",
                    to: "2026-12-31"
                )
                let isOfMonths = ["retention", "cancelled-in-period"].contains(report.name)
                #expect(later.isEmpty || isOfMonths, "\(report.name): \(later)")
            }
        }
    }

    @Test func `what is not over or not whole is marked, and nothing else`() async throws {
        try await FilledLedger.withLives(Self.morning()) { ledger, _ in
            func marked(
                _ name: String,
                _ axis: String,
                from: String? = nil,
                to: String
            ) async throws -> [String] {
                try await Self.rows(name, of: ledger, from: from, to: to)
                    .filter { $0["isPartial"] == "true" }.map { $0[axis] }
            }
            #expect(try await marked("active", "day", to: "2026-02-05") == ["2026-02-05"])
            #expect(try await marked("active", "day", to: "2026-02-04") == [])
            let whole = try await marked("revenue", "month", from: "2026-01-01", to: "2026-01-31")
            #expect(whole == [])
            let cut = try await marked("revenue", "month", from: "2026-01-02", to: "2026-01-31")
            #expect(cut == ["2026-01"])
            let both = try await marked("churn", "month", from: "2026-01-01", to: "2026-02-05")
            #expect(both == ["2026-02"])
            let nth = try await Self.rows(
                "cohorts",
                of: ledger,
                from: "2026-01-01",
                to: "2026-02-05"
            )
            .map { "\($0["month"]) \($0["monthNumber"]) \($0["isPartial"])" }
            #expect(
                Set(nth) == ["2026-01 0 false", "2026-01 1 true", "2026-02 0 true"],
                "\(nth)"
            )
        }
    }

    @Test func `a mark is a word of CSV and JSON, and a sign in text and on the page`()
        async throws
    {
        try await FilledLedger.withLives(Self.morning()) { ledger, _ in
            var question = ReportQuestion(try #require(Report.named("active")))
            question.to = Instant("2026-02-05")
            let report = try await ledger.report(question)
            let csv = report.csv.split(separator: "\r\n")
            #expect(csv.first?.hasSuffix(",is_partial") == true, "\(csv)")
            #expect(csv.last?.hasSuffix(",true") == true, "\(csv)")
            #expect(csv.dropLast().last?.hasSuffix(",false") == true, "\(csv)")
            let json = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
            #expect(json.contains("\"isPartial\":true"), "\(json)")
            let text = report.text.map { "\($0)" }.joined(separator: "\n")
            #expect(text.contains("2026-02-05*") && !text.contains("2026-01-31*"), "\(text)")
            #expect(text.contains("* not whole: "), "\(text)")
            #expect(!text.contains("is partial"), "\(text)")
        }
    }

    @Test func `a refund after the last day does not count, one on it does`() async throws {
        let life: [LifeStep] = try [
            .subscribe(Self.monthly, offer: nil, at: Self.at("2026-01-05")),
            .renew(at: Self.at("2026-02-04T12:00:00Z")),
            .refund(purchase: 0, percentage: nil, at: Self.at("2026-02-20")),
            .reverseRefund(purchase: 0, at: Self.at("2026-02-25")),
            .refund(purchase: 1, percentage: nil, at: Self.at("2026-02-26")),
        ]
        try await FilledLedger.withLives([life]) { ledger, session in
            // Independent of the reports: the journal, as far as the day.
            func givenBack(_ day: String) async throws -> Int64 {
                try await session.query(
                    """
                    SELECT coalesce(-sum(amount_milliunits), 0)::bigint FROM projection.movements
                    WHERE movement IN ('exit_refund', 'refund_reversed')
                        AND occurred_at < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
                    """,
                    [.text(day)]
                ).single().int8(0)
            }
            for (day, count) in [
                ("2026-02-19", 0), ("2026-02-20", 1), ("2026-02-25", 0), ("2026-02-26", 1),
            ] as [(String, Int64)] {
                let expected = try await givenBack(day)
                #expect((expected > 0) == (count > 0))
                let revenue = try await Self.rows("revenue", of: ledger, to: day)
                #expect(revenue.reduce(0) { $0 + $1.number("givenBackMilliunits") } == expected)
                #expect(
                    revenue.reduce(0) { $0 + $1.number("givenBackOnRefundDateMilliunits") }
                        == expected
                )
                let payments = try await Self.rows("payments", of: ledger, to: day)
                #expect(payments.map { $0.number("givenBackMilliunits") } == [expected], "\(day)")
                #expect(payments.map { $0.number("refundsCount") } == [count], "\(day)")
                let rate = try await Self.rows("refund-rate", of: ledger, to: day)
                #expect(rate.reduce(0) { $0 + $1.number("paidPurchasesRefunded") } == count)
                let gross = revenue.reduce(0) { $0 + $1.number("grossMilliunits") }
                for name in ["ltv", "cohorts"] {
                    let rows = try await Self.rows(name, of: ledger, to: day)
                    let net = rows.reduce(0) { $0 + $1.number("netMilliunits") }
                    #expect(net == gross - expected, "\(name) \(day)")
                }
            }
        }
    }

    private static func at(_ text: String) throws -> Instant { try #require(Instant(text)) }

    private static func rows(
        _ name: String,
        of ledger: Ledger,
        from: String? = nil,
        to: String
    ) async throws -> [ReportRow] {
        var question = ReportQuestion(try #require(Report.named(name)))
        question.from = from.flatMap { Instant($0) }
        question.to = Instant(to)
        return try await ledger.report(question).rows.map(ReportRow.init)
    }
}
