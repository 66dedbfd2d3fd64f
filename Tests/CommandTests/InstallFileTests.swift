import Foundation
import TestSupport
import Testing

/// `report initial-conversion --installs` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct InstallFileTests {
    private struct Document: Decodable {
        struct Row: Decodable {
            let newCustomers: Int64
            let installs: Int64?
            let initialConversionPercent: Double?
        }
        let command: String?
        let rows: [Row]
    }

    private static let report = [
        "report", "initial-conversion", "--from", "2020-01-01", "--by", "none",
    ]

    @Test func `installs of a file are added up, and the command names the file`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command in
            let folder = try TestFolder()
            let text = """
                Date,Source,First-Time Downloads
                2025-01-01,Search,600
                2025-01-01,Browse,300
                2025-01-02,Search,100

                """
            let file = try folder.write("installs.csv", Data(text.utf8))
            let plain = try await command.expect(0, Self.report + ["--json"])
            let none = try JSONDecoder().decode(Document.self, from: Data(plain.utf8))
            #expect(none.rows.count == 1 && none.rows[0].installs == nil)
            #expect(none.rows[0].initialConversionPercent == nil && !plain.contains("\"firstDay\""))
            let asked = Self.report + ["--installs", file]
            let json = try await command.expect(0, asked + ["--json"])
            let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
            let row = try #require(document.rows.first)
            #expect(row.newCustomers == none.rows[0].newCustomers && row.newCustomers > 0)
            #expect(row.installs == 1000)
            #expect(row.initialConversionPercent == Double(row.newCustomers) / 10)
            let again = try #require(document.command).split(separator: " ").map(String.init)
            #expect(again.suffix(2) == ["--installs", file])
            #expect(try await command.expect(0, Array(again.dropFirst()) + ["--json"]) == json)
            let table = try await command.expect(0, asked)
            #expect(table.contains("installs of 2025-01-01 to 2025-01-02"), "\(table)")
            let csv = try await command.expect(0, asked + ["--csv"])
            #expect(csv.contains(",installs,initial_conversion_percent\r\n"), "\(csv)")
        }
    }

    @Test func `lines that cannot be read are named, and nothing is printed`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command in
            let folder = try TestFolder()
            func refusal(_ text: String, _ code: Int32) async throws -> String {
                let file = try folder.write("installs.csv", Data(text.utf8))
                let ending = try await command.run(Self.report + ["--installs", file])
                #expect(ending.code == code && ending.output.isEmpty, "\(ending.errors)")
                return ending.errors
            }
            let lines = try await refusal(
                """
                date,installs,country
                2026-02-30,5,DEU
                2026-03-01,-3,DEU
                2026-03-01,1.5,DEU
                2026-03-01,2000000000,DEU
                2026-03-01,5,DE
                2026-03-01,5,DEU
                2026-03-02,5,
                2026-03-02

                """,
                65
            )
            for (line, words) in [
                (2, "invalid date '2026-02-30'"), (3, "invalid installs '-3'"),
                (4, "invalid installs '1.5'"), (5, "invalid installs '2000000000'"),
                (6, "invalid country 'DE'"), (8, "the line has no country"),
                (9, "the line has 1 field"),
            ] {
                #expect(lines.contains("line \(line): \(words)"), "\(lines)")
            }
            #expect(lines.contains("7 lines of ") && lines.contains("cannot be read"), "\(lines)")
            let header = try await refusal("date,downloads\n2026-03-01,5\n", 65)
            #expect(header.contains("expected date,installs[,country]"), "\(header)")
            let empty = try await refusal("date,installs\n", 65)
            #expect(empty.contains("has no installs"), "\(empty)")
            try await command.expect(66, Self.report + ["--installs", folder.path(of: "none.csv")])
        }
    }

    @Test func `other reports and breakdowns refuse installs`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command in
            let folder = try TestFolder()
            let file = try folder.write("installs.csv", Data("2026-03-01,5\n".utf8))
            for (words, part) in [
                (["revenue"], "report revenue has no installs"),
                (["initial-conversion", "--by", "product"], "cannot be broken down by product"),
                (["initial-conversion", "--by", "country"], "the file has no column country"),
            ] {
                let ending = try await command.run(["report"] + words + ["--installs", file])
                #expect(ending.code == 64 && ending.output.isEmpty, "\(words): \(ending.errors)")
                #expect(ending.errors.contains(part), "\(ending.errors)")
            }
        }
    }
}
