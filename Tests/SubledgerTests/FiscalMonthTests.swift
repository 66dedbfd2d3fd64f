import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// The months of Apple's fiscal calendar, and reports by them.
@Suite(.enabled { await TestServer.isAvailable })
struct FiscalMonthTests {
    @Test(arguments: [
        // Dates that Apple published or paid by.
        ("FY2021-04", "2020-12-27", "2021-01-30"), ("FY2021-12", "2021-08-29", "2021-09-25"),
        ("FY2022-01", "2021-09-26", "2021-10-30"), ("FY2024-01", "2023-10-01", "2023-11-04"),
        ("FY2024-02", "2023-11-05", "2023-12-02"), ("FY2024-04", "2023-12-31", "2024-02-03"),
        ("FY2024-07", "2024-03-31", "2024-05-04"), ("FY2024-10", "2024-06-30", "2024-08-03"),
        // Years of 53 weeks, whose third month has five.
        ("FY2017-03", "2016-11-27", "2016-12-31"), ("FY2023-02", "2022-10-30", "2022-11-26"),
        ("FY2023-03", "2022-11-27", "2022-12-31"), ("FY2023-04", "2023-01-01", "2023-02-04"),
        ("FY2023-11", "2023-08-06", "2023-09-02"), ("FY2023-12", "2023-09-03", "2023-09-30"),
        ("FY2028-03", "2027-11-28", "2028-01-01"),
    ])
    func `a fiscal month has the days that Apple published`(
        name: String,
        first: String,
        last: String
    ) throws {
        for day in [first, last] { #expect(FiscalMonth(day)?.text == name, "\(day)") }
        let days = try #require(FiscalMonth(first)).days
        #expect(days.first == first && days.last == last)
    }

    @Test func `the fiscal months follow each other, and have the names of calendar months`() {
        #expect(FiscalMonth(named: 10, of: 2025).text == "FY2026-01")
        #expect(FiscalMonth(named: 12, of: 2025).text == "FY2026-03")
        #expect(FiscalMonth(named: 1, of: 2026).text == "FY2026-04")
        #expect(FiscalMonth(named: 9, of: 2026).text == "FY2026-12")
        var days: [String] = []
        for year in 2009...2060 {
            for month in 1...12 { days += FiscalMonth(named: month, of: year).days }
        }
        #expect(days == Array(Set(days)).sorted() && days.count % 7 == 0)
        let end = Instant(days.last ?? "")?.milliseconds ?? 0
        let start = Instant(days.first ?? "")?.milliseconds ?? 0
        #expect(Int((end - start) / 86_400_000) + 1 == days.count)
    }

    @Test func `a fiscal month is what a report on its days is`() async throws {
        try await Analytics.withLedger { _, ledger in
            // What moves within a span is not what moves between its ends, and a report until its
            // last day does not know of later refunds.
            let onlyEnds = [
                "mrr-movement": ["openingMrrMilliunits", "closingMrrMilliunits"],
                "revenue": ["grossMilliunits", "givenBackOnRefundDateMilliunits"],
            ]
            for name in ["revenue", "deferred-revenue", "mrr-movement", "churn", "refunds"] {
                var question = ReportQuestion(try #require(Report.named(name)))
                question.dimensions = [.fiscalMonth]
                let report = try await ledger.report(question)
                let months = Set(report.rows.map(ReportRow.init).map { $0["fiscalMonth"] }).sorted()
                #expect(months.count > 12 && months.allSatisfy { $0.hasPrefix("FY") }, "\(name)")
                let shown =
                    onlyEnds[name]
                    ?? report.columns.filter { $0.kind == .money || $0.kind == .count }
                    .map(\.jsonName)
                for month in [months[4], months[months.count / 2]] {
                    let days = try #require(
                        FiscalMonthTests.all.first { $0.text == month }
                    ).days
                    question.dimensions = []
                    question.from = Instant(days[0])
                    question.to = days.last.flatMap { Instant($0) }
                    let whole = try await ledger.report(question).rows.map(ReportRow.init)
                    let found = report.rows.map(ReportRow.init).filter {
                        $0["fiscalMonth"] == month
                    }
                    func table(_ rows: [ReportRow]) -> [String: [Int64]] {
                        var table: [String: [Int64]] = [:]
                        for row in rows {
                            let numbers = shown.map { row.number($0) }
                            guard numbers.contains(where: { $0 != 0 }) else { continue }
                            table[row["currency"] + row["refundReason"]] = numbers
                        }
                        return table
                    }
                    #expect(table(found) == table(whole), "\(name) \(month)")
                    #expect(!table(found).isEmpty, "\(name) \(month)")
                }
            }
        }
    }

    private static var all: [FiscalMonth] {
        (2015...2035).flatMap { year in (1...12).map { FiscalMonth(named: $0, of: year) } }
    }
}
