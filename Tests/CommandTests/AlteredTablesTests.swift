import Foundation
import Postgres
import TestSupport
import Testing

/// Live tables and views that somebody has altered by hand: told by `tables check`, and set
/// right by what it says.
@Suite(.enabled { await TestServer.isAvailable })
struct AlteredTablesTests {
    @Test(arguments: Alteration.all)
    func `what was altered by hand is told with what sets it right, which does`(
        alteration: Alteration
    ) async throws {
        try await withSimulatedLedger { command, settings in
            try await command.expect(0, "rebuild", "--quiet")
            let rows = try await settings.number("SELECT count(*) FROM projection.refunds")
            try await settings.meddle(alteration.sql)

            let check = try await command.run("tables", "check")
            #expect(check.code == 3, "\(check.errors)")
            for word in [alteration.words, "`subledger rebuild refunds`"] {
                #expect(check.errors.contains(word), "\(word): \(check.errors)")
            }
            #expect(!check.output.contains("is new"), "\(check.output)")
            let document = try await command.json(Altered.self, exit: 3, "tables", "check")
            #expect(document.alterations.map(\.kind) == alteration.kinds)
            #expect(document.alterations.allSatisfy { $0.projection == "refunds" })
            let listing = try await command.run("tables")
            let tells = listing.errors.contains("`subledger rebuild refunds`")
            // Which types the columns have only a rebuild knows.
            #expect(listing.code == 0 && tells == !alteration.isOfType, "\(listing.errors)")

            let listed = try await command.json([Listed].self, "tables")
            #expect(listed.filter { !$0.alterations.isEmpty }.count == (tells ? 1 : 0))

            if let next = alteration.next {
                let refusal = try await command.run("rebuild", "refunds", "--quiet")
                #expect(refusal.code == 69, "\(refusal.errors)")
                #expect(refusal.errors.contains("projection.refunds"), "\(refusal.errors)")
                try await settings.meddle(next)
            }
            try await command.expect(0, "rebuild", "refunds", "--quiet")
            let healed = try await command.run("tables", "check")
            #expect(healed.code == 0, "\(healed.errors)")
            let shown = "SET ROLE ledger_reader; SELECT count(*) FROM projection.refunds"
            try await settings.meddle(shown)
            #expect(try await settings.number("SELECT count(*) FROM projection.refunds") == rows)
            try await command.expect(0, "follow", "--once", "--quiet")
        }
    }

    @Test func `a live table that is gone is a difference of its own, and on the page`()
        async throws
    {
        try await withSimulatedLedger { command, settings in
            try await command.expect(0, "rebuild", "--quiet")
            try await settings.meddle("DROP TABLE projection_1.refunds CASCADE")
            let folder = try TestFolder()
            let page = folder.path(of: "page.html")
            let ending = try await command.run(
                ["tables", "check", "--quiet", "--html", page]
            )
            let line = try #require(
                ending.output.split(separator: "\n").first { $0.contains("refunds") }
            )
            #expect(line.contains("not compared"), "\(ending.output)")
            let html = try String(contentsOfFile: page, encoding: .utf8)
            #expect(html.contains("not compared") && html.contains("projection_1.refunds is gone"))
            #expect(!html.contains("Columns of"))

            // The next one must not take the name of what is only listed.
            try await settings.meddle("DROP SCHEMA projection_1 CASCADE")
            let document = try await command.json(Altered.self, exit: 3, "tables", "check")
            #expect(document.alterations.map(\.kind) == Array(repeating: "tableMissing", count: 6))
            #expect(!document.equal)
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
        }
    }
}

/// What somebody may do to the live table of `refunds`, or to its view.
struct Alteration: Sendable, CustomTestStringConvertible {
    let sql: String
    let kinds: [String]
    /// What is told of it.
    let words: String
    /// Whether only a comparison with other types tells it.
    var isOfType = false
    /// What has to be done before a rebuild can make the view.
    var next: String?

    var testDescription: String { sql }

    private static let table = "projection_1.refunds"
    private static let view = "CREATE VIEW projection.refunds AS SELECT * FROM \(table)"

    static let all = [
        Alteration(
            sql: "ALTER TABLE \(table) ADD COLUMN note text",
            kinds: ["tableColumns"],
            words: "column note was added"
        ),
        Alteration(
            sql: "ALTER TABLE \(table) ALTER COLUMN announced_ms TYPE numeric",
            kinds: ["tableColumns"],
            words: "column announced_ms is numeric instead of bigint",
            isOfType: true
        ).afterDropOfTheView,
        Alteration(
            sql: "ALTER TABLE \(table) DROP COLUMN announced_ms",
            kinds: ["tableColumns"],
            words: "column announced_ms is gone"
        ).afterDropOfTheView,
        // Without it no row can be found.
        Alteration(
            sql: "ALTER TABLE \(table) DROP COLUMN ordinal",
            kinds: ["tableColumns"],
            words: "column ordinal is gone"
        ).afterDropOfTheView,
        Alteration(
            sql: "DROP TABLE \(table) CASCADE",
            kinds: ["tableMissing"],
            words: "the live table \(table) is gone"
        ),
        Alteration(
            sql: "ALTER TABLE \(table) RENAME TO older",
            kinds: ["tableMissing"],
            words: "the live table \(table) is gone"
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds",
            kinds: ["viewMissing"],
            words: "the view projection.refunds is gone"
        ),
        Alteration(
            sql: "CREATE OR REPLACE VIEW projection.refunds AS SELECT * FROM \(table) WHERE false",
            kinds: ["viewDefinition"],
            words: "the view projection.refunds does not show"
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds; \(view) LIMIT 1000",
            kinds: ["viewDefinition"],
            words: "the view projection.refunds does not show"
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds; "
                + "CREATE VIEW projection.refunds AS SELECT environment FROM \(table)",
            kinds: ["viewDefinition"],
            words: "the view projection.refunds does not show"
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds; "
                + "CREATE TABLE projection.refunds AS SELECT * FROM \(table)",
            kinds: ["notAView"],
            words: "projection.refunds is not the view",
            next: "ALTER TABLE projection.refunds RENAME TO copied"
        ),
    ]

    // A column that a view shows can be neither dropped nor made another.
    private var afterDropOfTheView: Alteration {
        Alteration(
            sql: "DROP VIEW projection.refunds; \(sql); \(Alteration.view)",
            kinds: kinds,
            words: words,
            isOfType: isOfType
        )
    }
}

private struct Listed: Decodable {
    let alterations: [Altered.Line]
}

private struct Altered: Decodable {
    let equal: Bool
    let alterations: [Line]

    struct Line: Decodable {
        let projection: String
        let kind: String
    }
}
