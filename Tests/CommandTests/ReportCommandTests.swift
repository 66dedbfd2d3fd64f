import Foundation
import Projections
import Subledger
import TestSupport
import Testing

/// `report NAME` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct ReportCommandTests {
    private struct Document: Decodable {
        struct Column: Decodable { let name: String }
        let name: String
        let version: Int
        let command: String?
        let catalogVersion: Int
        let columns: [Column]
        let rows: [Row]
    }
    private struct Row: Decodable {
        let customerId: String
        let currency: String?
        let paymentsCount: Int64
        let netMilliunits: Int64
    }
    private struct List: Decodable {
        struct Entry: Decodable {
            let name: String
            let definition: String
        }
        let reports: [Entry]
    }

    @Test func `the list explains every report, those of the log too`() async throws {
        let command = Command(environment: [:])
        let list = try await command.json(List.self, "report", "list").reports
        let names = list.map(\.name)
        #expect(Array(names.prefix(3)) == ["retention", "cancelled-in-period", "payments"])
        #expect(Set(names).isSuperset(of: ["mrr", "ltv", "anomalies", "wrong-answers"]))
        #expect(Set(names).count == names.count)
        for report in list {
            #expect(report.definition.hasSuffix("."), "\(report.name)")
            #expect(!report.definition.contains("--"), "\(report.name): \(report.definition)")
        }
        let text = try await command.expect(0, "report", "list")
        #expect(text.contains("retention (definition 3; by month, product)"), "\(text)")
    }

    @Test func `a table, CSV and JSON of a report hold the same, and it can be had again`()
        async throws
    {
        try await withSimulatedLedger { command in
            let early = try await command.run("report", "payments")
            #expect(early.code == 78, "\(early.errors)")
            #expect(early.errors.contains("`subledger rebuild"), "\(early.errors)")
            try await command.expect(0, "rebuild", "--quiet")
            let json = try await command.expect(0, "report", "payments", "--json")
            let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
            let csv = try await command.expect(0, "report", "payments", "--csv")
            let lines = csv.split(separator: "\r\n")
            #expect(lines[0] == document.columns.map(\.name).joined(separator: ",")[...])
            #expect(lines.count == document.rows.count + 1 && document.rows.count > 5)
            for (line, row) in zip(lines.dropFirst(), document.rows) {
                let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                #expect(cells[0] == row.customerId && Int64(cells[2]) == row.paymentsCount)
                #expect(Int64(cells[6]) == row.netMilliunits)
            }
            let table = try await command.expect(0, "report", "payments")
            #expect(table.hasPrefix("payments, definition 3: "), "\(table)")
            // The greatest number of payments has a whole bar, in any currency.
            let bars = table.split(separator: "\n").count {
                $0.hasSuffix(String(repeating: "█", count: 20))
            }
            let most = document.rows.map(\.paymentsCount).max()
            #expect(bars == document.rows.count { $0.paymentsCount == most }, "\(table)")
            let again = try #require(document.command).split(separator: " ").map(String.init)
            #expect(table.contains("again: \(again.joined(separator: " "))"), "\(table)")
            let asked = Array(again.dropFirst())
            #expect(try await command.expect(0, asked + ["--json"]) == json)
            #expect(try await command.expect(0, asked) == table)
        }
    }

    @Test func `CSV for Excel has money in units of its currency, and ids as text`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command in
            let report = ["report", "payments"]
            let plain = try await command.expect(0, report + ["--csv"])
            let excel = try await command.expect(0, report + ["--excel"])
            #expect(excel.hasPrefix("\u{FEFF}customer_id,currency,"), "\(excel.prefix(80))")
            #expect(excel.contains(",net,") && !excel.contains("_milliunits"))
            let lines = zip(plain.split(separator: "\r\n"), excel.split(separator: "\r\n"))
            for (before, after) in lines.dropFirst() {
                let cells = before.split(separator: ",", omittingEmptySubsequences: false)
                let shown = after.split(separator: ",", omittingEmptySubsequences: false)
                #expect(shown[0] == "\"=\"\"\(cells[0])\"\"\"" && shown[1] == cells[1], "\(after)")
                let amount = try #require(Int64(cells[6]))
                // Exact: with a third decimal where the currency has two and the amount has three.
                let written = CurrencyAmount(amount, String(cells[1]))
                let number = written.rounded == amount ? written : CurrencyAmount(amount, nil)
                #expect(shown[6] == number.number[...], "\(after)")
            }
            let gaps = try await command.run("report", "gaps", "--excel")
            #expect(gaps.output.hasPrefix("\u{FEFF}original_transaction_id,"), "\(gaps.output)")
            try await command.expect(64, report + ["--excel", "--json"])
        }
    }

    @Test func `Excel neither converts nor runs a text`() {
        for text in ["", "EUR", "free_trial", "com.example.monthly", "Zürich Süd"] {
            #expect(text.excelText == text)
        }
        for text in [
            "2000000123", "1e5", "2026-03", "007", "TRUE", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1",
            "jan1", " x", "com.example.pro2",
        ] {
            #expect(text.excelText == "=\"\(text)\"")
        }
        #expect("a\"b".excelText == "=\"a\"\"b\"")
        let long = String(repeating: "=", count: 256)
        #expect(long.excelText == "'" + long)
        #expect(
            [["id", "n"], ["12", "3"]].excelCSV(plain: ["n"])
                == "\u{FEFF}id,n\r\n\"=\"\"12\"\"\",3\r\n"
        )
    }

    @Test func `a catalog that was imported after the events is asked for by its time`()
        async throws
    {
        try await withSimulatedLedger { command in
            let simulation = try await Simulation.shared
            try await command.expect(
                0,
                "catalog",
                "import",
                simulation.payloads + "/catalog.storekit",
                "--effective-from",
                "2009-01-01"
            )
            try await command.expect(0, "rebuild", "--quiet")
            let json = try await command.expect(0, "report", "payments", "--json")
            let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
            #expect(document.catalogVersion == 1)
            let again = try #require(document.command).split(separator: " ").map(String.init)
            #expect(try await command.expect(0, Array(again.dropFirst()) + ["--json"]) == json)
        }
    }

    @Test func `a strict report fails if its tables are behind, or if rows are left out`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command in
            let whole = try await command.expect(0, "report", "active", "--csv")
            #expect(try await command.expect(0, "report", "active", "--csv", "--strict") == whole)
            let cut = try await command.run("report", "active", "--limit", "3")
            #expect(cut.code == 0 && cut.errors.contains("only the first 3 rows"))
            let refused = try await command.run("report", "active", "--limit", "3", "--strict")
            #expect(refused.code == 3 && refused.output.isEmpty, "\(refused.output)")
            #expect(refused.errors.contains("only the first 3 rows"), "\(refused.errors)")
            let stream = try #require(try await command.json([StreamLine].self, "streams").first)
            try await command.expect(
                0,
                "customers",
                "link",
                "ann",
                stream.originalTransactionId,
                "--environment",
                stream.environment
            )
            let late = try await command.run("report", "active", "--csv")
            #expect(late.code == 0 && late.output == whole)
            #expect(late.errors.contains("1 event behind the log"), "\(late.errors)")
            let strict = try await command.run("report", "active", "--csv", "--strict")
            #expect(strict.code == 75 && strict.output.isEmpty, "\(strict.output)")
            #expect(strict.errors.contains("1 event behind the log"), "\(strict.errors)")
            // As known at a position, nothing is behind.
            let known = try await command.expect(
                0,
                ["report", "active", "--csv", "--strict", "--known-at", "10"]
            )
            #expect(known.hasPrefix("day,"), "\(known)")
        }
    }

    @Test func `a close is computed again, and an edited file is found`() async throws {
        try await withSimulatedLedger { command in
            let folder = try TestFolder()
            let (first, second) = (folder.path(of: "first"), folder.path(of: "second"))
            let open = try await command.run("report", "close", "2099-01", "--out", first)
            #expect(open.code == 64 && open.errors.contains("2099-01 is not over"))
            #expect(!FileManager.default.fileExists(atPath: first))
            let month = try await lastWholeMonth(command)
            try await command.expect(0, "report", "close", month, "--out", first, "--customers")
            try await command.expect(0, "report", "close", "--verify", first)
            let again = try await command.run("report", "close", month, "--out", first)
            #expect(again.code == 64 && again.errors.contains("has another close"))
            // The file is what the command prints that the JSON contains.
            let file = URL(fileURLWithPath: first + "/payments.json")
            let json = try Data(contentsOf: file)
            let document = try JSONDecoder().decode(Document.self, from: json)
            let words = try #require(document.command).split(separator: " ").map(String.init)
            let printed = try await command.expect(0, Array(words.dropFirst()) + ["--json"])
            #expect(printed == String(decoding: json, as: UTF8.self))
            try (json + Data([0x0a])).write(to: file)
            let found = try await command.run("report", "close", "--verify", first)
            #expect(found.code == 3 && found.output.contains("payments.json"), "\(found.output)")
            // What is no file is missing, and is not waited for.
            try FileManager.default.removeItem(at: file)
            #expect(mkfifo(file.path, 0o600) == 0)
            let pipe = try await command.run("report", "close", "--verify", first)
            #expect(pipe.code == 3 && pipe.output.contains("missing"), "\(pipe.output)")
            let wrong = try await command.run(
                ["report", "close", month, "--out", second, "--corrections", first]
            )
            #expect(wrong.code == 64 && wrong.errors.contains("is not of a month before \(month)"))
            try await command.expect(64, "report", "close", month)
            try await command.expect(64, "report", "close", "--verify", first, "--customers")
            try await command.expect(66, "report", "close", "--verify", second)
        }
    }

    @Test func `a close in one currency has further files, which are computed again`()
        async throws
    {
        try await withSimulatedLedger { command in
            let folder = try TestFolder()
            let month = try await lastWholeMonth(command)
            let rates = try folder.write("rates.csv", Data("\(month)-01,USD,EUR,0.9\n".utf8))
            try await command.expect(0, "rates", "import", rates)
            let out = folder.path(of: "close")
            let options = ["--currency", "EUR", "--rate-days", "31", "--commission", "standard"]
            let text = try await command.expect(
                0,
                ["report", "close", month, "--out", out] + options
            )
            #expect(text.contains("revenue-EUR"), "\(text)")
            let later = try folder.write("later.csv", Data("\(month)-01,USD,EUR,0.5\n".utf8))
            try await command.expect(0, "rates", "import", later)
            try await command.expect(0, "report", "close", "--verify", out)
            // The file is what the command prints that the JSON contains.
            let json = try Data(contentsOf: URL(fileURLWithPath: out + "/revenue-EUR.json"))
            let document = try JSONDecoder().decode(Repeated.self, from: json)
            let words = try #require(document.command).split(separator: " ").map(String.init)
            #expect(words.contains("--commission"))
            let printed = try await command.expect(0, Array(words.dropFirst()) + ["--json"])
            #expect(printed == String(decoding: json, as: UTF8.self))
            for wrong in [
                ["--verify", out, "--currency", "EUR"],
                [month, "--out", folder.path(of: "euro"), "--currency", "euro"],
                [month, "--out", folder.path(of: "tax"), "--tax", "DEU=15.97"],
            ] {
                try await command.expect(64, ["report", "close"] + wrong)
            }
        }
    }

    private struct Repeated: Decodable { let command: String? }

    // The month before that of Apple's newest signature.
    private func lastWholeMonth(_ command: Command) async throws -> String {
        struct Days: Decodable { let to: String }
        let days = try await command.json(Days.self, "report", "active", "--known-at", "now")
        let parts = days.to.split(separator: "-").compactMap { Int($0) }
        let (year, month) = parts[1] == 1 ? (parts[0] - 1, 12) : (parts[0], parts[1] - 1)
        return "\(year)-\(month < 10 ? "0" : "")\(month)"
    }

    @Test func `what changed since has no picture, and no state after the newest one`()
        async throws
    {
        try await withSimulatedLedger { command in
            for (words, part) in [
                (["--changed-since", "1", "--strict"], "leave out --strict"),
                (["--changed-since", "1", "--html", "page.html"], "leave out --html"),
                (["--changed-since", "2099-01-01"], "--changed-since is in the future"),
                (["--changed-since", "999999"], "--changed-since names offset 999999"),
                // The first of the two runs that ingested the ledger ends at offset 28.
                (["--changed-since", "29", "--known-at", "28"], "is after the later one, 28"),
            ] {
                let ending = try await command.run(["report", "revenue"] + words)
                #expect(ending.code == 64 && ending.output.isEmpty, "\(words): \(ending.errors)")
                #expect(ending.errors.contains(part), "\(ending.errors)")
            }
        }
    }

    @Test func `what no report knows is a usage error that names the report`() async throws {
        let command = Command(environment: [:])
        let unnamed = try await command.run("report")
        #expect(unnamed.code == 64)
        #expect(unnamed.errors.contains("retention, cancelled-in-period"), "\(unnamed.errors)")
        let help = try await command.expect(0, "report", "--help")
        #expect(help.replacing(/\s+/, with: " ").contains("ltv, cohorts"), "\(help)")
        let unknown = try await command.run("report", "retentoin")
        #expect(unknown.code == 64)
        #expect(unknown.errors.contains("there is no report 'retentoin'"), "\(unknown.errors)")
        try await command.expect(64, "report", "mrr", "--csv", "--json")
        try await command.expect(64, "report", "mrr", "--by", "planet")
    }
}
