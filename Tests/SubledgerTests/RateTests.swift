import EventLog
import Events
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// The operator's exchange rates, and reports that convert and estimate money with them.
@Suite(.enabled { await TestServer.isAvailable })
struct RateTests {
    @Test func `a decimal number is exact, positive and bounded`() {
        for (text, expected) in [
            ("1.0840", "1.084"), ("007.5", "7.5"), ("0.000000000001", "0.000000000001"),
            ("12", "12"), ("12.0", "12"), ("99999999.5", "99999999.5"),
        ] {
            #expect(ExactDecimal(text)?.text == expected)
        }
        for text in [
            "", ".", "1.", ".5", "0", "0.0", "-1", "+1", "1e3", "1,5", "1.2.3", " 1", "123456789",
            "0.0000000000001", "١",
        ] {
            #expect(ExactDecimal(text) == nil, "\(text)")
        }
    }

    @Test func `a list is imported once, and a corrected rate replaces the old one`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            let list = ["2026-01-02 USD 0.92", "2026-01-05 USD 0.93", "2026-01-02 GBP 1.15"]
            let dry = try await RateTests.take(list, into: ledger, isDryRun: true)
            #expect(dry.added == 3 && dry.isDryRun)
            #expect(try await ledger.rateSummaries().isEmpty)
            let first = try await RateTests.take(list, into: ledger)
            #expect(first.added == 3 && first.known == 0)
            let again = try await RateTests.take(list + ["2026-01-02 GBP 1.150"], into: ledger)
            #expect(again.added == 0 && again.known == 4)
            let corrected = try await RateTests.take(
                ["2026-01-05 USD 0.94", "2026-01-05 USD 0.95"],
                into: ledger
            )
            #expect(corrected.replaced == 1 && corrected.rejected == 1)
            #expect(corrected.replacements.first?.before.text == "0.93")
            #expect(corrected.rejections.first?.reason == "contradiction")
            #expect(corrected.rejections.first?.line == 2)
            let dollar = try #require(try await ledger.rateSummaries().last)
            #expect(dollar.currency == "USD" && dollar.days == 2 && dollar.replaced == 1)
            #expect(dollar.lastDay == "2026-01-05" && dollar.lastRate.text == "0.94")
            await ledger.log.close()
        }
    }

    @Test func `two concurrent imports give one revision after the other`() async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledgers = [
                try await FilledLedger.open(settings), try await FilledLedger.open(settings),
                try await FilledLedger.open(settings),
            ]
            let replaced = try await withThrowingTaskGroup(of: Int.self) { group in
                for (number, ledger) in ledgers.enumerated() {
                    group.addTask {
                        try await RateTests.take(
                            ["2026-01-02 USD 0.9\(number + 1)"],
                            into: ledger
                        ).replaced
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(replaced == 2)
            #expect(try await ledgers[0].rateSummaries().first?.replaced == 2)
            for ledger in ledgers { await ledger.log.close() }
        }
    }

    @Test func `an imported rate cannot be changed`() async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            _ = try await RateTests.take(["2026-01-02 USD 0.92"], into: ledger)
            let session = try await PostgresSession.connect(settings)
            for change in [
                "UPDATE operation.currency_rate SET rate = 2",
                "DELETE FROM operation.currency_rate",
                "TRUNCATE operation.currency_rate",
            ] {
                let error = await #expect(throws: PostgresError.self) {
                    try await session.execute(change)
                }
                #expect(error?.sqlState == "LG001")
                #expect(error?.description.contains("operation.currency_rate") == true)
            }
            await session.close()
            await ledger.log.close()
        }
    }

    @Test func `money is converted purchase by purchase, at the rate of its day`() async throws {
        try await Analytics.withLedger { session, ledger in
            let rates = try await RateTests.importSparseRates(session, into: ledger)
            var expected: [String: Int64] = [:]
            for sale in try await Sale.all(session) {
                let rate = rates.rate(of: sale.currency, on: sale.day, daysMax: 7)
                let key = "\(sale.month) \(rate == nil ? sale.currency : "EUR")"
                expected[key, default: 0] += sale.gross.times(rate)
                expected[key + " net", default: 0] += sale.net.times(rate)
            }
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.money.currency = "EUR"
            let report = try await ledger.report(question)
            var found: [String: Int64] = [:]
            for row in report.rows.map(ReportRow.init) where row.number("grossMilliunits") > 0 {
                let key = "\(row["month"]) \(row["currency"])"
                found[key] = row.number("grossMilliunits")
                found[key + " net"] = row.number("netMilliunits")
                // A rate is named if it was used, and is no older than requested.
                let isOfRates = row["currency"] == "EUR"
                if !isOfRates { #expect(row["rateFirstDay"].isEmpty) }
                #expect(row["rateFirstDay"] <= row["rateLastDay"])
                #expect(row["rateLastDay"] <= row["month"] + "-31")
            }
            #expect(found == expected)
            let currencies = Set(found.keys.map { $0.split(separator: " ")[1] })
            // The yen has no rate at all, other currencies have none on some days.
            #expect(currencies.isSuperset(of: ["EUR", "JPY", "USD"]), "\(currencies)")
            for name in ["mrr", "payments", "ltv", "cohorts"] {
                question.report = try #require(Report.named(name))
                let converted = try await ledger.report(question).rows.map(ReportRow.init)
                #expect(
                    converted.contains { $0["currency"] == "EUR" && !$0["rateLastDay"].isEmpty }
                )
            }
        }
    }

    @Test func `a refund on its own date is converted at the rate of that date`() async throws {
        try await Analytics.withLedger { session, ledger in
            let rates = try await RateTests.importSparseRates(session, into: ledger)
            var expected: Int64 = 0
            for refund in try await session.query(
                """
                SELECT currency, (occurred_at AT TIME ZONE 'UTC')::date::text, -amount_milliunits
                FROM analytics.movements
                WHERE movement IN ('exit_refund', 'refund_reversed') AND NOT is_family_shared
                    AND amount_milliunits IS NOT NULL
                    AND occurred_at < date_trunc('day', (SELECT analytics.last_signed_at()))
                """
            ) {
                let currency = try refund.text(0)
                let rate = rates.rate(of: currency, on: try refund.text(1), daysMax: 400)
                guard rate != nil || currency == "EUR" else { continue }
                let amount = try refund.int8(2)
                expected += amount.signum() * Int64(amount.magnitude).times(rate)
            }
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.money.currency = "EUR"
            question.money.rateDaysMax = 366
            question.dimensions = []
            let rows = try await ledger.report(question).rows.map(ReportRow.init)
            let row = try #require(rows.first { $0["currency"] == "EUR" })
            #expect(row.number("givenBackOnRefundDateMilliunits") == expected)
            #expect(expected > 0)
        }
    }

    @Test func `a report as known then uses the rates known then`() async throws {
        try await RateTests.withTables { session, ledger in
            _ = try await RateTests.importSparseRates(session, into: ledger)
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.money.currency = "EUR"
            question.money.rateDaysMax = 30
            let then = try await ledger.report(question)
            let command = try #require(then.command)
            #expect(command.hasSuffix(" --currency EUR --rate-days 30"))
            // The rates came after the events: their instant limits the report, an offset does not.
            let words = command.split(separator: " ")
            let bound = try #require(words.firstIndex(of: "--known-at").map { words[$0 + 1] })
            let instant = try #require(Instant(String(bound)))
            let days = try await session.query(
                "SELECT DISTINCT day::text FROM operation.currency_rate WHERE currency = 'USD'"
            ).map { "\(try $0.text(0)) USD 7" }
            try await Task.sleep(for: .milliseconds(5))
            #expect(try await RateTests.take(days, into: ledger).replaced == days.count)
            #expect(try await ledger.report(question).rows != then.rows)
            question.knownAt = .time(instant)
            let again = try await ledger.report(question)
            #expect(again == then)
            // At the offset of the newest event no rate was known.
            question.knownAt = .offsets([0: try #require(then.positions["0"])])
            let before = try await ledger.report(question).rows.map(ReportRow.init)
            #expect(before.allSatisfy { $0["rateLastDay"].isEmpty })
        }
    }

    @Test func `proceeds are estimated by the year of paid service, and only on request`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.dimensions = []
            let plain = try await ledger.report(question)
            #expect(!plain.columns.contains { $0.name.contains("proceeds") } && plain.money == nil)
            question.money.commission = .standard
            question.money.taxPercents = ["DEU": try #require(ExactDecimal("15.97"))]
            var expected: [String: Int64] = [:]
            var reduced = 0
            for sale in try await Sale.all(session) {
                let share: Int64 = sale.isAfterYear ? 85 : 70
                if sale.isAfterYear { reduced += 1 }
                let kept: Int64 = sale.country == "DEU" ? 10_000 - 1_597 : 10_000
                expected[sale.currency, default: 0] += (sale.net * kept * share).rounded(
                    by: 1_000_000
                )
            }
            let report = try await ledger.report(question)
            for row in report.rows.map(ReportRow.init) where row.number("grossMilliunits") > 0 {
                #expect(
                    row.number("proceedsEstimateMilliunits") == expected[row["currency"]],
                    "\(row["currency"])"
                )
            }
            #expect(reduced > 0 && report.money?.commission == .standard)
            question.money.commission = .smallBusiness
            let small = try await ledger.report(question).rows.map(ReportRow.init)
            #expect(small.allSatisfy { $0.number("proceedsEstimateMilliunits") >= 0 })
            #expect(small.map(\.values) != report.rows)
        }
    }

    @Test func `invalid money options are refused`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let tax = try #require(ExactDecimal("100"))
            for (name, change, words) in [
                ("retention", { $0.currency = "EUR" }, "has no money"),
                ("revenue", { $0.currency = "euro" }, "invalid currency 'euro'"),
                ("revenue", { $0.rateDaysMax = 400 }, "expected 0 to 366"),
                ("mrr", { $0.commission = .standard }, "no estimate of proceeds"),
                ("revenue", { $0.taxPercents = ["DEU": tax] }, "needs --commission"),
                (
                    "revenue",
                    {
                        $0.commission = .standard
                        $0.taxPercents = ["DE": tax]
                    }, "invalid country 'DE'"
                ),
                (
                    "revenue",
                    {
                        $0.commission = .standard
                        $0.taxPercents = ["DEU": tax]
                    }, "below 100 %"
                ),
            ] as [(String, (inout ReportMoney) -> Void, String)] {
                var question = ReportQuestion(try #require(Report.named(name)))
                change(&question.money)
                let error = await #expect(throws: QuestionError.self) {
                    _ = try await ledger.report(question)
                }
                #expect(error?.code == .unknownReport)
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
            await ledger.log.close()
        }
    }

    // From a ledger whose tables have no catalog, so that its reports can be reproduced.
    private static func withTables(
        _ body: (PostgresSession, Ledger) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            _ = try await ledger.projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await body(session, ledger)
            await session.close()
            await ledger.log.close()
        }
    }

    // Lines with a day, a currency and a rate to the euro.
    private static func take(
        _ list: [String],
        into ledger: Ledger,
        isDryRun: Bool = false
    ) async throws -> RateImportDocument<CurrencyRate> {
        var lines: [Result<RateLine<CurrencyRate>, RefusedLine>]? = try list.enumerated().map {
            number,
            text in
            let words = text.split(separator: " ").map(String.init)
            let pair = try #require(CurrencyRate.Pair(words[1], in: "EUR"))
            let key = try #require(CurrencyRate.Key(pair, day: words[0]))
            let rate = CurrencyRate(key, try #require(ExactDecimal(words[2])))
            return .success(RateLine(number: number + 1, rate: rate))
        }
        return try await ledger.importRates(isDryRun: isDryRun) {
            defer { lines = nil }
            return lines
        }
    }

    // A rate every eleventh day, for all currencies except the yen.
    private static func importSparseRates(
        _ session: PostgresSession,
        into ledger: Ledger
    ) async throws -> SparseRates {
        let days = try await Analytics.days(session).map(\.0)
        let currencies = try await session.query(
            """
            SELECT DISTINCT currency FROM analytics.transactions
            WHERE currency NOT IN ('EUR', 'JPY') ORDER BY 1
            """
        ).map { try $0.text(0) }
        var rates = SparseRates()
        var list: [String] = []
        for (number, day) in days.enumerated() where number % 11 == 0 {
            for (place, currency) in currencies.enumerated() {
                let scaled = Int64(7_000 + 13 * number + 999 * place)
                rates.add(scaled, of: currency, on: day)
                list.append(
                    "\(day) \(currency) \(scaled / 10_000).\("\(scaled % 10_000 + 10_000)".dropFirst())"
                )
            }
        }
        #expect(try await take(list, into: ledger).added == list.count)
        return rates
    }
}

/// Rates in ten-thousandths, by currency and day.
private struct SparseRates {
    private var rates: [String: [(day: String, rate: Int64)]] = [:]

    mutating func add(_ rate: Int64, of currency: String, on day: String) {
        rates[currency, default: []].append((day, rate))
    }

    func rate(of currency: String, on day: String, daysMax: Int64) -> Int64? {
        guard let found = rates[currency]?.last(where: { $0.day <= day }),
            let (from, to) = Instant(found.day).flatMap({ from in Instant(day).map { (from, $0) } }
            ),
            (to.milliseconds - from.milliseconds) / 86_400_000 <= daysMax
        else { return nil }
        return found.rate
    }
}
