import Foundation
import Postgres
import TestSupport
import Testing

/// Live tables and views changed by hand: `tables check` reports them, and its advice repairs them.
@Suite(.enabled { await TestServer.isAvailable })
struct AlteredTablesTests {
    @Test(arguments: Alteration.all)
    func `a manual change is reported with a repair that works`(
        alteration: Alteration
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let rows = try await settings.number("SELECT count(*) FROM projection.refunds")
            try await settings.meddle(alteration.sql)

            let check = try await command.run("tables", "check")
            #expect(check.code == 3, "\(check.errors)")
            for word in [alteration.words, "`subledger rebuild refunds`"] {
                #expect(check.errors.contains(word), "\(word): \(check.errors)")
            }
            #expect(!check.output.contains("is new"), "\(check.output)")
            let document = try await command.json(Altered.self, exit: 3, "tables", "check")
            #expect(document.alterations.map(\.kind) == [alteration.kind])
            #expect(document.alterations.allSatisfy { $0.projection == "refunds" })

            if let next = alteration.next {
                let refusal = try await command.run("rebuild", "refunds", "--quiet")
                #expect(refusal.code == 69, "\(refusal.errors)")
                #expect(refusal.errors.contains("\"refunds\" is not a view"), "\(refusal.errors)")
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

    @Test(arguments: [
        (
            "analytics.last_signed_at", "analytics.last_signed_at",
            """
            CREATE OR REPLACE FUNCTION analytics.last_signed_at() RETURNS timestamptz
            LANGUAGE sql STABLE AS 'SELECT now()'
            """,
            "DROP FUNCTION analytics.last_signed_at CASCADE"
        ),
        (
            "operation.newest_signature", "in lane 0",
            "UPDATE operation.newest_signature SET as_of_ms = as_of_ms + 86400000", "SELECT 1"
        ),
    ])
    func `what reports read besides the tables is compared`(
        place: String,
        words: String,
        change: String,
        advice: String
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle(change)
            let check = try await command.run("tables", "check")
            #expect(check.code == 3, "\(check.errors)")
            #expect(check.errors.contains(words), "\(check.errors)")
            #expect(check.errors.contains(place), "\(check.errors)")
            try await settings.meddle(advice)
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
        }
    }

    @Test func `a check before the first rebuild leaves nothing to repair`() async throws {
        try await withSimulatedLedger { command, _ in
            for words in [["tables", "check"], ["tables", "diff"]] {
                let ending = try await command.run(words)
                #expect(ending.code == 4, "\(ending.errors)")
            }
            let dry = try await command.expect(0, "migrate", "--dry-run")
            #expect(dry.contains("up to date"), "\(dry)")
        }
    }

    @Test func `a missing live table is a separate difference and appears on the page`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
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
            #expect(
                html.contains("not compared")
                    && html.contains(
                        "projection_1.refunds no longer exists"
                    )
            )
            #expect(!html.contains("Columns of"))

            // The next build must not take the name of a schema that is only listed.
            try await settings.meddle("DROP SCHEMA projection_1 CASCADE")
            let document = try await command.json(Altered.self, exit: 3, "tables", "check")
            #expect(document.alterations.map(\.kind) == Array(repeating: "table", count: 7))
            #expect(!document.equal)
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
        }
    }
}

/// Manual changes to the live table of `refunds` or to its view.
struct Alteration: Sendable, CustomTestStringConvertible {
    let sql: String
    let kind: String
    /// What is reported about it.
    let words: String
    /// What has to be done before a rebuild can create the view.
    var next: String?

    var testDescription: String { sql }

    private static let table = "projection_1.refunds"
    private static let view = "CREATE VIEW projection.refunds AS SELECT * FROM \(table)"

    private static let hidden = "projection.refunds is not the view that shows"

    static let all = [
        Alteration(
            sql: "ALTER TABLE \(table) ADD COLUMN note text",
            kind: "table",
            words: "note text instead of nothing"
        ),
        Alteration(
            sql: "ALTER TABLE \(table) ALTER COLUMN purchase_price_milliunits TYPE numeric",
            kind: "table",
            words: "purchase_price_milliunits numeric instead of purchase_price_milliunits bigint"
        ).afterDropOfTheView,
        Alteration(
            sql: "ALTER TABLE \(table) DROP COLUMN purchase_price_milliunits",
            kind: "table",
            words: "nothing instead of purchase_price_milliunits bigint"
        ).afterDropOfTheView,
        // Without it no row can be found.
        Alteration(
            sql: "ALTER TABLE \(table) DROP COLUMN ordinal",
            kind: "table",
            words: "nothing instead of ordinal integer"
        ).afterDropOfTheView,
        Alteration(
            sql: "DROP TABLE \(table) CASCADE",
            kind: "table",
            words: "the live table \(table) no longer exists"
        ),
        Alteration(
            sql: "ALTER TABLE \(table) RENAME TO older",
            kind: "table",
            words: "the live table \(table) no longer exists"
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "CREATE OR REPLACE VIEW projection.refunds AS SELECT * FROM \(table) WHERE false",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds; \(view) LIMIT 1000",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds; "
                + "CREATE VIEW projection.refunds AS SELECT environment FROM \(table)",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds; "
                + "CREATE TABLE projection.refunds AS SELECT * FROM \(table)",
            kind: "view",
            words: hidden,
            next: "ALTER TABLE projection.refunds RENAME TO copied"
        ),
    ]

    // A column that a view shows can be neither dropped nor given another type.
    private var afterDropOfTheView: Alteration {
        Alteration(
            sql: "DROP VIEW projection.refunds; \(sql); \(Alteration.view)",
            kind: kind,
            words: words
        )
    }
}

private struct Altered: Decodable {
    let equal: Bool
    let alterations: [Line]

    struct Line: Decodable {
        let projection: String
        let kind: String
    }
}
