import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// The operator's rates of commission and tax, and the proceeds that are estimated with them.
@Suite(.enabled { await TestServer.isAvailable })
struct ProceedsRateTests {
    @Test func `a percentage is exact, and below 100`() {
        for (text, expected) in [
            ("0", "0"), ("0.0", "0"), ("15.970", "15.97"), ("030", "30"), ("99.999999999999", nil),
        ] as [(String, String?)] {
            #expect(Percent(text)?.text == expected ?? text)
        }
        for text in ["", ".", "100", "-1", "1e1", ".5", "0.", "15%", "0.0000000000001"] {
            #expect(Percent(text) == nil, "\(text)")
        }
        let sorted = ["0", "0.5", "2", "12.45", "12.5", "30"].compactMap { Percent($0) }
        #expect(sorted.count == 6 && sorted == sorted.reversed().sorted())
    }

    @Test func `a list is imported once, and a corrected rate replaces the old one`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            let list = ["DEU 2026-01-01 30 15.97", "* 2026-01-01 10 0", "DEU 2026-04-01 30 17 12"]
            #expect(try await Self.take(list, into: ledger).added == 3)
            let again = try await Self.take(list + ["DEU 2026-01-01 30.0 15.97"], into: ledger)
            #expect(again.added == 0 && again.known == 4)
            let corrected = try await Self.take(
                ["DEU 2026-04-01 15 17 12", "DEU 2026-04-01 14 17"],
                into: ledger
            )
            #expect(corrected.replaced == 1 && corrected.rejected == 1)
            let change = try #require(corrected.replacements.first)
            #expect(change.before.commissionPercent.text == "30" && change.key.storefront == "DEU")
            #expect(
                corrected.rejections.first?.message
                    == "line 1 gives another rate of DEU for 2026-04-01: commission 15 %, after a "
                    + "year 12 %, tax 17 %"
            )
            let summaries = try await ledger.proceedsRateSummaries()
            #expect(summaries.map(\.storefront) == ["*", "DEU"])
            #expect(summaries[0].last.commissionAfterYearPercent.text == "10")
            #expect(summaries[1].days == 2 && summaries[1].replaced == 1)
            let session = try await PostgresSession.connect(settings)
            let error = await #expect(throws: PostgresError.self) {
                try await session.execute("UPDATE operation.proceeds_rate SET tax_percent = 0")
            }
            #expect(error?.sqlState == "LG001")
            await session.close()
            await ledger.log.close()
        }
    }

    @Test func `proceeds take the rate of the storefront and the day of the purchase`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let sales = try await Sale.all(session)
            let days = sales.map(\.day).sorted()
            let (start, middle) = (days[days.count / 8], days[days.count / 2])
            _ = try await Self.take(
                ["* \(start) 30 0", "DEU \(middle) 30 15.97", "USA \(middle) 12.5 7.25 11"],
                into: ledger
            )
            // In thousandths: what is left after tax, and after commission.
            func rate(of sale: Sale) -> (Int64, Int64)? {
                if sale.day >= middle, sale.country == "DEU" {
                    return (84_030, sale.isAfterYear ? 85_000 : 70_000)
                }
                if sale.day >= middle, sale.country == "USA" {
                    return (92_750, sale.isAfterYear ? 89_000 : 87_500)
                }
                return sale.day < start ? nil : (100_000, sale.isAfterYear ? 85_000 : 70_000)
            }
            var expected: [String: Int64] = [:]
            var unrated: [String: Int64] = [:]
            for sale in sales {
                guard let (taxed, kept) = rate(of: sale) else {
                    unrated[sale.currency, default: 0] += sale.net
                    continue
                }
                expected[sale.currency, default: 0] += (sale.net * (taxed / 10) * (kept / 10))
                    .rounded(by: 100_000_000)
            }
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.dimensions = []
            question.money.commission = .rates
            let report = try await ledger.report(question)
            let rows = report.rows.map(ReportRow.init).filter { $0.number("grossMilliunits") > 0 }
            for row in rows {
                let currency = row["currency"]
                #expect(row.number("proceedsEstimateMilliunits") == expected[currency] ?? 0)
                #expect(row.number("netWithoutRateMilliunits") == unrated[currency] ?? 0)
            }
            #expect(rows.count > 2 && unrated.values.reduce(0, +) > 0)
            #expect(report.notes.contains { $0.contains("no rate of commission and tax covers") })
        }
    }

    @Test func `a report as known then uses the rates known then, and changed-since says so`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            _ = try await ledger.projector.rebuild()
            _ = try await Self.take(["* 2000-01-01 30 0"], into: ledger)
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.dimensions = []
            question.money.commission = .rates
            let then = try await ledger.report(question)
            let command = try #require(then.command)
            #expect(command.hasSuffix(" --commission rates"))
            let words = command.split(separator: " ")
            let bound = try #require(words.firstIndex(of: "--known-at").map { words[$0 + 1] })
            let instant = try #require(Instant(String(bound)))
            try await Task.sleep(for: .milliseconds(5))
            #expect(try await Self.take(["* 2000-01-01 15 0"], into: ledger).replaced == 1)
            #expect(try await ledger.report(question).rows != then.rows)
            let changes = try await ledger.reportChanges(question, since: .time(instant))
            #expect(changes.causes.map(\.cause) == ["rates"])
            question.knownAt = .time(instant)
            #expect(try await ledger.report(question) == then)
            question.money.taxPercents = ["DEU": try #require(ExactDecimal("1"))]
            let error = await #expect(throws: QuestionError.self) {
                _ = try await ledger.report(question)
            }
            #expect(error?.message.contains("leave out --tax") == true)
            await ledger.log.close()
        }
    }

    // Lines with a storefront, a day, a commission, a tax and perhaps the commission after a year.
    private static func take(
        _ list: [String],
        into ledger: Ledger
    ) async throws -> RateImportDocument<ProceedsRate> {
        var lines: [Result<RateLine<ProceedsRate>, RefusedLine>]? =
            try list.enumerated().map { number, text in
                let words = text.split(separator: " ").map(String.init)
                let key = ProceedsRate.Key(storefront: words[0], day: words[1])
                let value = ProceedsRate.Value(
                    commissionPercent: try #require(Percent(words[2])),
                    commissionAfterYearPercent: words.count > 4 ? Percent(words[4]) : nil,
                    taxPercent: try #require(Percent(words[3]))
                )
                let rate = ProceedsRate(try #require(key), value)
                return .success(RateLine(number: number + 1, rate: rate))
            }
        return try await ledger.importRates {
            defer { lines = nil }
            return lines
        }
    }
}
