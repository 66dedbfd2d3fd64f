import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// `report NAME --html FILE`, and the lines that a terminal shows of long series.
@Suite(.enabled { await TestServer.isAvailable })
struct ReportPageTests {
    @Test func `every report is one page without references, for any names`()
        async throws
    {
        let hostile = "<script>alert(1)</script>&\"'"
        try await withSimulatedLedger { command in
            let folder = try TestFolder()
            let stream = try #require(try await command.json([StreamLine].self, "streams").first)
            try await command.expect(
                0,
                "customers",
                "link",
                hostile,
                stream.originalTransactionId,
                "--environment",
                stream.environment
            )
            try await command.expect(0, "rebuild", "--quiet")
            let list = try await command.expect(0, "report", "list")
            let names = list.split(separator: "\n").filter { $0.contains("; by ") }
                .map { String($0.prefix { $0 != " " }) }
            #expect(names.count == 21)
            for name in names {
                let page = folder.path(of: "\(name).html")
                let table = try await command.expect(0, "report", name, "--html", page)
                #expect(table.hasPrefix("\(name), definition"))
                let text = try String(contentsOfFile: page, encoding: .utf8)
                #expect(text.hasSuffix("</html>\n"))
                for word in [
                    "<script", "http://", "https://", "url(http", "<link", "<img", " src=",
                ] {
                    #expect(!text.contains(word), "\(name) contains \(word)")
                }
                for word in ["prefers-color-scheme: dark", "@media print", "again <code>"] {
                    #expect(text.contains(word), "\(name) lacks \(word)")
                }
                // Nobody buys seats in this simulation.
                #expect(text.contains("<svg") == (name != "seats"), "\(name)")
                let document = try XMLDocument(
                    xmlString: String(text.dropFirst("<!DOCTYPE html>".count))
                )
                let rows = try document.nodes(
                    forXPath: "//*[local-name()='tbody']/*[local-name()='tr']"
                )
                let json = try await command.expect(0, "report", name, "--json")
                let answer = try JSONDecoder().decode(Answer.self, from: Data(json.utf8))
                #expect(rows.count == answer.rows.count, "\(name)")
                #expect(rows.isEmpty == (name == "seats"), "\(name)")
            }
            let payments = try String(
                contentsOfFile: folder.path(of: "payments.html"),
                encoding: .utf8
            )
            #expect(payments.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;"))
        }
    }

    private struct Answer: Decodable {
        struct Row: Decodable {}
        let rows: [Row]
    }

    @Test func `a long series is drawn in a line, on a scale that its title names`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command in
            let text = try await command.expect(0, "report", "renewals")
            let lines = text.split(separator: "\n")
            let rows = lines.filter { $0.hasPrefix(" 20") }
            let title = "Share of payments that are automatic, Production, "
            let index = try #require(lines.firstIndex { $0.hasPrefix(title) })
            #expect(lines[index].hasSuffix("by month; ▁ is 0 %, █ is 100 %"), "\(lines[index])")
            let blocks = lines[index + 1].dropFirst()
            #expect(blocks.count >= rows.count && rows.count > 12)
            #expect(blocks.allSatisfy { "▁▂▃▄▅▆▇█ *".contains($0) }, "\(blocks)")
            let short = try await command.expect(
                0,
                "report",
                "renewals",
                "--from",
                "2024-06-01",
                "--to",
                "2024-08-31"
            )
            #expect(!short.contains(title))
        }
    }

    @Test func `a page that cannot be written is 70, before the report is asked`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command in
            let ending = try await command.run("report", "mrr", "--html", "/proc/page.html")
            #expect(ending.code == 70 && ending.output.isEmpty, "\(ending.errors)")
            #expect(ending.errors.contains("/proc/page.html cannot be written"))
        }
    }
}
