import AppStoreSimulator
import EventLog
import Events
import Foundation
import Subledger
import TestSupport
import Testing

/// Months that are closed in one currency, too.
@Suite(.enabled { await TestServer.isAvailable })
struct ConvertedCloseTests {
    // 9.99 dollars at 0.9, and 7.99 pounds at 1.15, each rounded to the milliunit.
    private static let dollars: Int64 = 8_991
    private static let pounds: Int64 = 9_189

    @Test func `a close in one currency adds its files, and later rates change nothing`()
        async throws
    {
        try await Self.withLedger { ledger in
            let (plain, files) = try await Self.close("2026-01", in: ledger)
            let (close, converted) = try await Self.close("2026-01", in: ledger) {
                $0.money.currency = "EUR"
                $0.money.commission = .smallBusiness
            }
            #expect(plain.reports.allSatisfy { $0.money == nil })
            for (name, bytes) in files where !["close.json", "checkpoint.json"].contains(name) {
                #expect(converted[name] == bytes, "\(name)")
            }
            let names = Report.all.filter { $0.hasMoney && !$0.namesCustomers }.map(\.name)
            let entries = close.reports.compactMap { entry in
                entry.money.map { (name: entry.name, money: $0) }
            }
            #expect(entries.map(\.name) == names && names.contains("mrr"))
            #expect(entries.allSatisfy { $0.money.currency == "EUR" })
            #expect(
                entries.filter { $0.money.commission == .smallBusiness }.map(\.name) == ["revenue"]
            )
            #expect(
                Set(converted.keys).subtracting(files.keys)
                    == Set(names.flatMap { ["\($0)-EUR.csv", "\($0)-EUR.json"] })
            )
            let revenue = try Self.report("revenue-EUR.json", of: converted)
            #expect(revenue.rows.map(ReportRow.init).map { $0["currency"] } == ["EUR"])
            let row = ReportRow(values: try #require(revenue.rows.first))
            #expect(row.number("grossMilliunits") == Self.dollars + Self.pounds)
            #expect(row.number("proceedsEstimateMilliunits") > 0)
            let read = try Self.document(String(decoding: try close.file(), as: UTF8.self))
            #expect(read == close && close.isReadable)

            try await Task.sleep(for: .milliseconds(5))
            try await Self.importRates(["2026-01-05 USD 0.5"], into: ledger)
            let later = FilledLedger.simulator
            try await ledger.ingest(Array(later.sampleHistory(count: 3)))
            let result = try await ledger.verifyClose(close) { converted[$0] }
            #expect(result.ok && result.files.count == close.files.count, "\(result)")
            let (_, again) = try await Self.close("2026-01", in: ledger) {
                $0.money.currency = "EUR"
            }
            let now = try Self.report("revenue-EUR.json", of: again).rows.map(ReportRow.init)
                .first { $0["currency"] == "EUR" }
            #expect(try #require(now).number("grossMilliunits") != Self.dollars + Self.pounds)
        }
    }

    @Test func `a forged currency is found`() async throws {
        try await Self.withLedger { ledger in
            let (close, files) = try await Self.close("2026-01", in: ledger) {
                $0.money.currency = "EUR"
            }
            let text = String(decoding: try close.file(), as: UTF8.self)
            let currency = "\"currency\" : \"EUR\""
            #expect(text.contains(currency))
            let forged = try Self.document(
                text.replacing(currency, with: "\"currency\" : \"USD\"")
            )
            #expect(forged.isReadable)
            let result = try await ledger.verifyClose(forged) { files[$0] }
            #expect(!result.ok)
            let states = Dictionary(
                uniqueKeysWithValues: result.files.map { ($0.path, $0.state) }
            )
            #expect(states["revenue.csv"] == .same)
            #expect(states["revenue-EUR.csv"] == .differs)
            #expect(states["revenue-USD.csv"] == .missing)
            let unreadable = try Self.document(
                text.replacing(currency, with: "\"currency\" : \"../EUR\"")
            )
            #expect(!unreadable.isReadable)
        }
    }

    @Test func `corrections are in the currencies of the close that they correct`() async throws {
        try await Self.withLedger { ledger in
            let (first, _) = try await Self.close("2026-01", in: ledger) {
                $0.money.currency = "EUR"
            }
            try await ledger.ingest(Self.purchase(4, in: 1, at: "2026-01-07"))
            try await ledger.ingest(Self.purchase(5, in: 0, at: "2026-03-02"))
            let (second, files) = try await Self.close("2026-02", in: ledger) {
                $0.earlier = [first]
            }
            for (name, sum, currency) in [
                ("corrections-2026-01", 7_990, nil),
                ("corrections-2026-01-EUR", Self.pounds, "EUR"),
            ] as [(String, Int64, String?)] {
                let json = try #require(files["\(name).json"])
                let corrections = try JSONDecoder().decode(Corrections.self, from: Data(json))
                #expect(corrections.reports.allSatisfy { $0.money?.currency == currency })
                let revenue = try #require(corrections.reports.first { $0.name == "revenue" })
                let cells = revenue.rows.flatMap(\.cells).filter { $0.column == "grossMilliunits" }
                #expect(cells.reduce(0) { $0 + $1.difference.count } == sum, "\(name)")
                #expect(files["\(name).csv"] != nil)
            }
            let result = try await ledger.verifyClose(second) { files[$0] }
            #expect(result.ok, "\(result)")
        }
    }

    @Test func `taxes without a commission are refused as in a report`() async throws {
        try await Self.withLedger { ledger in
            let tax = try #require(ExactDecimal("15.97"))
            let error = await #expect(throws: QuestionError.self) {
                _ = try await Self.close("2026-01", in: ledger) {
                    $0.money.taxPercents = ["DEU": tax]
                }
            }
            #expect(error?.message.contains("needs --commission") == true)
        }
    }

    private struct Corrections: Decodable { let reports: [ReportChangesDocument] }

    // A purchase in dollars, one in pounds, one in February, and then the rates.
    private static func withLedger(_ body: (Ledger) async throws -> Void) async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            try await ledger.ingest(purchase(1, in: 0, at: "2026-01-05"))
            try await ledger.ingest(purchase(2, in: 1, at: "2026-01-06"))
            try await ledger.ingest(purchase(3, in: 0, at: "2026-02-02"))
            try await Task.sleep(for: .milliseconds(5))
            try await importRates(["2026-01-05 USD 0.9", "2026-01-05 GBP 1.15"], into: ledger)
            try await body(ledger)
            await ledger.log.close()
        }
    }

    private static func purchase(
        _ index: Int64,
        in storefront: Int,
        at day: String
    ) throws -> [Delivery] {
        try SubscriptionLife(
            identity: LifeIdentity(
                seed: 15,
                index: index,
                storefront: SimulatedStorefront.all[storefront]
            ),
            store: FilledLedger.simulator.store,
            script: [
                .subscribe(SimulatedCatalog.lumen[2], offer: nil, at: try #require(Instant(day)))
            ]
        ).notifications()
    }

    private static func importRates(_ list: [String], into ledger: Ledger) async throws {
        var lines: [Result<RateLine, RefusedLine>]? = try list.enumerated().map { number, text in
            let words = text.split(separator: " ").map(String.init)
            let pair = try #require(CurrencyRate.Pair(words[1], in: "EUR"))
            let key = try #require(CurrencyRate.Key(pair, day: words[0]))
            let rate = CurrencyRate(key, try #require(ExactDecimal(words[2])))
            return .success(RateLine(number: number + 1, rate: rate))
        }
        _ = try await ledger.importRates {
            defer { lines = nil }
            return lines
        }
    }

    private static func close(
        _ month: String,
        in ledger: Ledger,
        _ change: (inout CloseQuestion) -> Void = { _ in }
    ) async throws -> (CloseDocument, [String: [UInt8]]) {
        var question = CloseQuestion(month: month)
        change(&question)
        var files: [String: [UInt8]] = [:]
        let close = try await ledger.closeMonth(question) { files[$0] = $1 }
        return (close, files)
    }

    private static func document(_ text: String) throws -> CloseDocument {
        try JSONDecoder().decode(CloseDocument.self, from: Data(text.utf8))
    }

    private static func report(
        _ name: String,
        of files: [String: [UInt8]]
    ) throws -> ReportDocument {
        let bytes = try #require(files[name])
        return try JSONDecoder().decode(ReportDocument.self, from: Data(bytes))
    }
}
