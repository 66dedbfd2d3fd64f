import Foundation
import TestSupport
import Testing

/// `customers import`: many links from a file, each line judged by itself.
@Suite(.enabled { await TestServer.isAvailable })
struct LinkImportTests {
    private struct Document: Decodable {
        struct Refusal: Decodable {
            let line: Int
            let reason: String
        }
        let lines: Int
        let appended: Int
        let known: Int
        let rejected: Int
        let isDryRun: Bool
        let rejections: [Refusal]
    }

    @Test func `a list is taken in once, and bad lines are named`() async throws {
        try await withStreams { command, folder, ids in
            let text =
                "ID,Customer,From\r\n\(ids[0]),anna,\r\n\(ids[1]),\"ben, jr\",2024-03-01\r\n"
                + "4711,caro,\r\n\(ids[2]),dora,yesterday\r\n\(ids[0]),emil,\r\n,x,\r\n"
            let file = try folder.write("list.csv", Data(text.utf8))
            let dry = try await command.json(
                Document.self,
                exit: 65,
                "customers",
                "import",
                file,
                "--dry-run"
            )
            #expect(dry.isDryRun && dry.rejected == 4)
            #expect(try await command.expect(0, "customers", "list").contains("no link"))
            let taken = try await command.json(
                Document.self,
                exit: 65,
                "customers",
                "import",
                file
            )
            #expect(taken.lines == 6 && taken.appended == 2 && taken.known == 0)
            #expect(taken.rejections.map(\.line) == [4, 5, 6, 7])
            #expect(
                taken.rejections.map(\.reason) == [
                    "unknown-id", "malformed-line", "held", "malformed-line",
                ]
            )
            let again = try await command.run("customers", "import", file)
            #expect(again.code == 65)
            #expect(
                again.output.hasPrefix(
                    "6 lines: 0 links appended, 2 known already, 4 lines refused"
                ),
                "\(again.output)"
            )
            #expect(
                again.errors.contains(
                    "line 5: invalid time 'yesterday': expected 2025-03-03, 2025-03-03T10:00Z or "
                        + "milliseconds [malformed-line]"
                ),
                "\(again.errors)"
            )
            let shown = try await command.expect(0, "customers", "show", "ben, jr")
            #expect(shown.contains("2024-03-01 00:00:00"), "\(shown)")
        }
    }

    @Test func `a line that is not CSV is refused alone, also if it closes no quote`() async throws
    {
        try await withStreams { command, folder, ids in
            let lines = [
                "\u{feff}customer,id", "an\"na,\(ids[0])", "\"open,\(ids[0])", "ben,\(ids[0])",
                "\(String(repeating: "x", count: 9000)),\(ids[1])", "\"dora\" x,\(ids[1])",
                "\"emil, \"\"jr\"\"\",\(ids[1])", "\"last,\(ids[1])",
            ]
            let file = try folder.write("list.csv", Data(lines.joined(separator: "\n").utf8))
            let taken = try await command.json(
                Document.self,
                exit: 65,
                "customers",
                "import",
                file
            )
            #expect(taken.lines == 7 && taken.appended == 2)
            #expect(taken.rejections.map(\.line) == [2, 3, 5, 6, 8])
            // The name of 9,000 letters is read, and too long for a customer.
            let reasons = taken.rejections.map(\.reason)
            #expect(reasons.filter { $0 == "malformed-line" }.count == 4 && reasons.count == 5)
            let shown = try await command.expect(0, "customers", "show", "emil, \"jr\"")
            #expect(shown.contains(ids[1]), "\(shown)")
        }
    }

    @Test func `the order of the lines changes no owner, and no header is needed`() async throws {
        try await withStreams { command, folder, ids in
            let lines = ids.enumerated().map { "customer \($0.offset % 7),\($0.element)\n" }
            let file = try folder.write("all.csv", Data(lines.joined().utf8))
            let back = try folder.write("back.csv", Data(lines.reversed().joined().utf8))
            let taken = try await command.json(Document.self, "customers", "import", file)
            #expect(taken.appended == ids.count && taken.rejected == 0)
            let again = try await command.json(Document.self, "customers", "import", back)
            #expect(again.known == ids.count && again.appended == 0)
            try await command.expectSoundLog()
        }
    }
}
