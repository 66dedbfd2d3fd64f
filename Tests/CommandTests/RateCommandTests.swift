import Foundation
import TestSupport
import Testing

/// `rates` and the reports that convert with them, from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct RateCommandTests {
    private struct Import: Decodable {
        struct Refusal: Decodable {
            let line: Int
            let message: String
        }
        let lines: Int
        let added: Int
        let known: Int
        let replaced: Int
        let rejected: Int
        let rejections: [Refusal]
    }
    private struct Summary: Decodable {
        let currency: String
        let baseCurrency: String
        let days: Int
        let lastRate: String
    }
    private struct Report: Decodable {
        struct Row: Decodable { let currency: String? }
        let command: String?
        let rows: [Row]
    }

    @Test func `a list is imported once, and invalid lines are named`() async throws {
        try await withLedger { command, _ in
            let folder = try TestFolder()
            let text = """
                Date,Currency,Base_Currency,Rate
                2026-01-05,USD,EUR,0.9223
                2026-02-30,USD,EUR,0.9
                2026-01-05,usd,EUR,0.9
                2026-01-05,EUR,EUR,1
                2026-01-05,GBP,EUR,1e2
                2026-01-05,GBP,EUR
                2026-01-05,GBP,EUR,"1.15"
                2026-01-05,GBP,EUR,1.16

                """
            let file = try folder.write("rates.csv", Data(text.utf8))
            let arguments = ["rates", "import", file]
            let empty = try await command.expect(0, "rates", "list")
            #expect(empty.contains("no exchange rates were imported"))
            let dry = try await command.run(arguments + ["--dry-run"])
            #expect(dry.code == 65 && dry.output.contains("2 rates to add"), "\(dry.output)")
            for (line, words) in [
                (3, "invalid date '2026-02-30'"), (4, "invalid currency 'usd'"),
                (5, "expected two different ones"), (6, "invalid rate '1e2'"),
                (7, "the line has 3 fields"), (9, "line 8 gives another rate"),
            ] {
                #expect(
                    dry.errors.contains("line \(line): ") && dry.errors.contains(words),
                    "\(dry.errors)"
                )
            }
            let taken = try await command.json(
                Import.self,
                exit: 65,
                "rates",
                "import",
                file
            )
            #expect(taken.added == 2 && taken.rejected == 6 && taken.lines == 8)
            let again = try await command.json(
                Import.self,
                exit: 65,
                "rates",
                "import",
                file
            )
            #expect(again.added == 0 && again.known == 2)
            let list = try await command.json([Summary].self, "rates", "list")
            #expect(list.map(\.currency) == ["GBP", "USD"] && list[1].lastRate == "0.9223")
            let header = try folder.write("header.csv", Data("date,rate\n".utf8))
            let refused = try await command.run("rates", "import", header)
            #expect(refused.code == 65 && refused.errors.contains("expected date,currency"))
            try await command.expect(66, "rates", "import", folder.path + "/none.csv")
        }
    }

    @Test func `Apple's rates hold on each day of their fiscal month`() async throws {
        try await withLedger { command, _ in
            let folder = try TestFolder()
            let text = """
                "iTunes Connect - Payments and Financial Reports\t(October, 2025)",,,,,,,,,,,,
                ,,,,,,,,,,,,
                Country or Region (Currency),Units Sold,Earned,Total Owed,Exchange Rate,Proceeds,Bank Account Currency,
                Americas (USD),"2","19.98","19.98","0.85613","17.11","EUR",
                Euro-Zone (EUR),"1","9.99","9.99","1.00000","9.99","EUR",
                "Korea, Republic of (KRW)","1","9,900","9,900","0.00061","6.04","EUR",
                "Latin America (USD)","1","9.99","9.99","0.9","8.99","EUR",
                "Rest of World (USD)","1","9.99","9.99","0.85613","8.55","EUR",
                ,,,,,,,,,,,,
                ,,,,,,,,,,"33.14" EUR,,
                ,,,,,,,,,,Paid to A BANK -****1299,,
                Country or Region (Currency),Units Sold,Earned,Total Owed,Exchange Rate,Proceeds,Bank Account Currency,
                Norway (NOK),"1","99","99",,,,

                """
            let file = try folder.write("financial_report.csv", Data(text.utf8))
            let taken = try await command.json(
                Import.self,
                exit: 65,
                "rates",
                "import",
                file,
                "--kind",
                "apple"
            )
            // Two currencies on each of 35 days.
            #expect(taken.added == 70 && taken.rejected == 1 && taken.lines == 3, "\(taken)")
            #expect(taken.rejections.first?.line == 7)
            #expect(
                taken.rejections.first?.message.contains("at 0.9 here and at 0.85613 in line 4")
                    == true
            )
            let list = try await command.expect(0, "rates", "list")
            let dollars = try #require(list.split(separator: "\n").last)
            for word in ["USD", "EUR", "35", "2025-09-28", "2025-11-01", "0.85613"] {
                #expect(dollars.contains(word), "\(list)")
            }
            let none = try folder.write("none.csv", Data("a,b\n".utf8))
            let refused = try await command.run("rates", "import", none, "--kind", "apple")
            #expect(refused.code == 65 && refused.errors.contains("Bank Account Currency"))
            let untitled = text.replacing("October", with: "Octobre")
            let unknown = try folder.write("unknown.csv", Data(untitled.utf8))
            let monthless = try await command.run("rates", "import", unknown, "--kind", "apple")
            #expect(monthless.code == 65 && monthless.errors.contains("names the month"))
        }
    }

    @Test func `rates of commission and tax are imported, listed and used`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command in
            let folder = try TestFolder()
            let text = """
                storefront,from,commission_percent,tax_percent,commission_after_year_percent
                *,2020-01-01,30,0,
                DEU,2020-01-01,30,15.97,12
                DE,2020-01-01,30,15.97,
                DEU,2020-02-30,30,15.97,
                DEU,2020-03-01,100,15.97,
                DEU,2020-03-01,30,
                """
            let file = try folder.write("proceeds.csv", Data(text.utf8))
            let empty = try await command.expect(0, "rates", "list", "--kind", "proceeds")
            #expect(empty.contains("no rates of commission and tax were imported"))
            let taken = try await command.run("rates", "import", file, "--kind", "proceeds")
            #expect(taken.code == 65 && taken.output.contains("2 rates added"), "\(taken.output)")
            for (line, words) in [
                (4, "invalid storefront 'DE'"), (5, "invalid date '2020-02-30'"),
                (6, "invalid commission_percent '100'"), (7, "invalid tax_percent ''"),
            ] {
                #expect(
                    taken.errors.contains("line \(line): ") && taken.errors.contains(words),
                    "\(taken.errors)"
                )
            }
            let list = try await command.expect(0, "rates", "list", "--kind", "proceeds")
            #expect(list.contains("DEU") && list.contains("15.97"), "\(list)")
            let report = try await command.expect(0, "report", "revenue", "--commission", "rates")
            #expect(report.contains("commission and tax by the operator's rates"), "\(report)")
            try await command.expect(
                64,
                "report",
                "revenue",
                "--commission",
                "rates",
                "--tax",
                "DEU=1"
            )
        }
    }

    @Test func `a converted report names its rates, gaps, and how to reproduce it`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command in
            let folder = try TestFolder()
            let file = try folder.write("rates.csv", Data("2020-01-01,USD,EUR,0.9\n".utf8))
            try await command.expect(0, "rates", "import", file)
            let asked = ["report", "revenue", "--currency", "EUR", "--rate-days", "300"]
            let ending = try await command.run(asked)
            #expect(ending.code == 0, "\(ending.errors)")
            #expect(
                ending.output.contains("money in EUR by the operator's rates, at most 300 days")
            )
            #expect(ending.errors.contains("no rate to EUR covers some amounts in"))
            let json = try await command.expect(0, asked + ["--json"])
            let report = try JSONDecoder().decode(Report.self, from: Data(json.utf8))
            let again = try #require(report.command).split(separator: " ").map(String.init)
            #expect(try await command.expect(0, Array(again.dropFirst()) + ["--json"]) == json)
            let proceeds = try await command.expect(
                0,
                "report",
                "revenue",
                "--commission",
                "small-business",
                "--tax",
                "DEU=15.97"
            )
            #expect(proceeds.contains("proceeds are an estimate"), "\(proceeds)")
            #expect(proceeds.contains("--commission small-business --tax DEU=15.97"))
            for wrong in [
                ["--tax", "DEU=1"], ["--commission", "half"], ["--currency", "euro"],
                ["--commission", "standard", "--tax", "DEU"],
            ] {
                try await command.expect(64, ["report", "revenue"] + wrong)
            }
        }
    }
}
