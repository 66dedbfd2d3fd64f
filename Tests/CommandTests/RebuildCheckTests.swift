import Foundation
import Postgres
import TestSupport
import Testing

/// What `tables check` and related commands report about wrong tables.
@Suite(.enabled { await TestServer.isAvailable })
struct RebuildCheckTests {
    @Test func `a subscription refused as before is reported, and is not a difference`()
        async throws
    {
        try await Self.withRefusal { command, _ in
            let check = try await command.run("tables", "check")
            #expect(check.code == 0, "\(check.errors)")
            #expect(check.errors.contains("1 subscription"), "\(check.errors)")
            #expect(check.errors.contains("refused_stream"), "\(check.errors)")
            let document = try await command.json(CheckDocument.self, "tables", "check")
            #expect(document.equal && document.refusals.changed.isEmpty)
            #expect(document.refusals.same == 7)
            // If a rebuild itself refuses something, its exit code reports it as always.
            try await command.expect(3, "rebuild", "--quiet")
        }
    }

    @Test(arguments: [
        "DELETE FROM projection.refused_stream WHERE name = 'refunds'",
        "UPDATE projection.refused_stream SET reason = 'another' WHERE name = 'refunds'",
        "UPDATE projection.refused_stream SET lane_offset = 6 WHERE name = 'refunds'",
        """
        INSERT INTO projection.refused_stream SELECT lane, build_schema, name, environment,
            '4711', 1, 'invented' FROM projection.refused_stream WHERE name = 'refunds'
        """,
    ])
    func `a refusal that a rebuild does not repeat is a difference`(meddling: String) async throws {
        try await Self.withRefusal { command, settings in
            let id = try await settings.text(
                "SELECT original_transaction_id FROM projection.refused_stream LIMIT 1"
            )
            try await settings.meddle(meddling)
            let check = try await command.run("tables", "check")
            #expect(check.code == 3, "\(check.errors)")
            let named = meddling.contains("INSERT") ? "4711" : id
            #expect(check.errors.contains("refunds"), "\(check.errors)")
            #expect(check.errors.contains(named), "\(check.errors)")
            let document = try await command.json(CheckDocument.self, exit: 3, "tables", "check")
            let changed = try #require(document.refusals.changed.first)
            #expect(document.refusals.changed.count == 1)
            #expect(changed.projection == "refunds" && changed.originalTransactionId == named)
            #expect((changed.live == nil) == meddling.contains("DELETE"))
            #expect((changed.rebuilt == nil) == meddling.contains("INSERT"))
        }
    }

    @Test(arguments: [[], ["--promote"]])
    func `a refused subscription is reported once`(options: [String]) async throws {
        try await Self.withRefusal { command, settings in
            // The comparison has nothing to report about this table.
            try await settings.meddle(
                """
                DROP VIEW projection.refunds CASCADE;
                DELETE FROM projection.ledger_projection WHERE name = 'refunds'
                """
            )
            let ending = try await command.run(["tables", "diff", "--quiet"] + options)
            #expect(ending.code == 3, "\(ending.errors)")
            let lines = ending.errors.split(separator: "\n").filter { $0.contains("refused") }
            #expect(lines.count == 2, "\(ending.errors)")
            #expect(lines.first?.contains("1 subscription is refused") == true)
            #expect(lines.last?.contains("refunds has no row of 1 refused") == true)
        }
    }

    @Test func `a projection without a live table is reported only as new`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let rows = try await settings.number("SELECT count(*) FROM projection.refunds")
            try await settings.meddle(
                """
                DROP VIEW projection.refunds CASCADE;
                DELETE FROM projection.ledger_projection WHERE name = 'refunds'
                """
            )
            let folder = try TestFolder()
            let page = folder.path(of: "page.html")
            let text = try await command.expect(
                0,
                ["tables", "diff", "--quiet", "--html", page]
            )
            let lines = text.split(separator: "\n").filter { $0.contains("refunds") }
            #expect(lines.count == 1, "\(text)")
            let words = try #require(lines.first).split(separator: " ").map(String.init)
            #expect(words == ["refunds", "\(foldVersion(of: "refunds"))", "new", "\(rows)"])
            let html = try String(contentsOfFile: page, encoding: .utf8)
            let row = try #require(
                html.components(separatedBy: "<tr").first { $0.contains(">refunds<") }
            )
            #expect(row.contains("new") && row.contains("\(rows)") && !row.contains("equal"))
            #expect(!html.contains("Columns of"))
            let document = try await command.json(
                CheckDocument.self,
                "tables",
                "diff",
                "--quiet"
            )
            let refunds = try #require(document.projections.first { $0.name == "refunds" })
            #expect(refunds.isNew && refunds.rows == rows && refunds.columnsAdded.isEmpty)
            #expect(document.projections.count { $0.isNew } == 1)
            #expect(document.projections.allSatisfy { $0.rows > 0 })
        }
    }

    @Test func `quoted identifiers are not a difference`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let database = try #require(settings.database)
            try await settings.meddle("ALTER DATABASE \(database) SET quote_all_identifiers = on")
            try await command.expect(0, "tables", "check", "--quiet")
            let projections = try await command.run("tables")
            #expect(projections.code == 0 && projections.errors.isEmpty, "\(projections.errors)")
            #expect(try await command.expect(0, "migrate").contains("up to date"))
        }
    }

    @Test func `an error names the option that it belongs to`() async throws {
        let role = "reader_\(ProcessInfo.processInfo.processIdentifier)"
        try await withSimulatedLedger { command, settings in
            try await settings.meddle("CREATE ROLE \(role); GRANT ledger_reader TO \(role)")
            let stranger = Command(
                environment: command.environment.merging(["PGOPTIONS": "-c role=\(role)"]) { $1 }
            )
            let folder = try TestFolder()
            let policy = try folder.write("policy.json", Data("{\"graceCounts\":false}".utf8))
            for (arguments, label) in [
                (["tables", "check"], "tables check: "),
                (["rebuild", "--with", policy], "rebuild --with: "),
                (["tables", "diff"], "tables diff: "), (["rebuild"], "rebuild: "),
            ] {
                let ending = try await stranger.run(arguments + ["--quiet"])
                #expect(ending.code == 77, "\(ending.errors)")
                #expect(ending.errors.hasPrefix("subledger: \(label)"), "\(ending.errors)")
            }
            try await settings.meddle("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }

    private static func withRefusal(
        _ body: (Command, ConnectionSettings) async throws -> Void
    ) async throws {
        try await withSimulatedLedger { command, settings in
            try await settings.meddle(
                "UPDATE ledger.event SET content = '\\x7f' WHERE lane_offset = 7"
            )
            try await command.expect(3, "rebuild", "--quiet")
            try await body(command, settings)
        }
    }
}

/// What `tables diff --json` contains besides the samples.
struct CheckDocument: Decodable {
    let equal: Bool
    let refusals: Refusals
    let projections: [Table]

    struct Refusals: Decodable {
        let same: Int
        let changed: [Changed]
    }

    struct Changed: Decodable {
        let projection: String
        let originalTransactionId: String
        let live: Refusal?
        let rebuilt: Refusal?
    }

    struct Refusal: Decodable { let reason: String }

    struct Table: Decodable {
        let name: String
        let isNew: Bool
        let rows: Int64
        let columnsAdded: [String]
    }
}
