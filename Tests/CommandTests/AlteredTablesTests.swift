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
            let own = document.alterations.filter { $0.projection == "refunds" }
            #expect(own.map(\.kind) == [alteration.kind])
            // It reads this view, and goes with it.
            let others = document.alterations.map(\.projection).filter { $0 != "refunds" }
            #expect(others.isEmpty || others == ["analytics.recognised_revenue"], "\(others)")

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

    @Test func `a digest that is not that of the rows is reported`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle(
                """
                UPDATE projection.ledger_projection SET digest = (SELECT digest
                    FROM projection.ledger_projection WHERE name = 'movements' LIMIT 1)
                WHERE name = 'refunds'
                """
            )
            let check = try await command.run("tables", "check")
            #expect(check.code == 3, "\(check.errors)")
            #expect(
                check.errors.contains("refunds has the rows of a rebuild"),
                "\(check.errors)"
            )
            try await command.expect(0, "rebuild", "refunds", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
        }
    }

    @Test func `what reports read besides the tables is compared`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle(
                "UPDATE operation.newest_signature SET as_of_ms = as_of_ms + 86400000"
            )
            let check = try await command.run("tables", "check")
            #expect(check.code == 3, "\(check.errors)")
            for words in ["in lane 0", "operation.newest_signature"] {
                #expect(check.errors.contains(words), "\(check.errors)")
            }
            try await command.expect(0, "tables", "check", "--quiet")
        }
    }

    /// What ledger_projector alters, and so what reports read.
    private static let views = [
        (
            "analytics.transactions",
            """
            DO $$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW analytics.transactions AS SELECT * FROM ('
                || rtrim(pg_get_viewdef('analytics.transactions'::regclass), ';')
                || ') v WHERE lane < 0'; END $$
            """
        ),
        (
            "analytics.last_signed_at",
            """
            CREATE OR REPLACE FUNCTION analytics.last_signed_at() RETURNS timestamptz
            LANGUAGE sql STABLE AS 'SELECT now()'
            """
        ),
        (
            "analytics.recorded_at",
            """
            CREATE FUNCTION analytics.recorded_at(bigint, bigint) RETURNS timestamptz
            LANGUAGE sql AS 'SELECT now()'
            """
        ),
        ("analytics.customers", "ALTER VIEW analytics.customers SET (security_invoker = true)"),
        (
            "projection.refunds",
            """
            CREATE OR REPLACE VIEW projection.refunds AS SELECT * FROM projection_1.refunds
            WHERE current_user = 'ledger_projector'
            """
        ),
    ]

    @Test(arguments: views)
    func `an altered view or function for readers is named everywhere, and created again`(
        name: String,
        sql: String
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            #expect(try await command.run("migrate").errors.isEmpty)
            try await settings.meddle("SET ROLE ledger_projector; \(sql)")
            for words in [["tables", "check"], ["migrate"], ["doctor", "--json"]] {
                let ending = try await command.run(words)
                #expect(
                    (ending.output + ending.errors).contains("\(name) is not "),
                    "\(words): \(ending.output) \(ending.errors)"
                )
                #expect((ending.code == 0) == (words == ["migrate"]))
            }
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
            #expect(try await command.run("migrate").errors.isEmpty)
        }
    }

    /// What shows other rows to readers than to ledger_projector, as whom `tables check` reads.
    @Test(arguments: [
        (
            "row security of projection_1.transactions",
            """
            ALTER TABLE projection_1.transactions RENAME CONSTRAINT transactions_key TO k;
            COMMENT ON SCHEMA projection_1 IS 'none';
            CREATE POLICY p ON projection_1.transactions USING (current_user = 'ledger_projector');
            ALTER TABLE projection_1.transactions ENABLE ROW LEVEL SECURITY;
            ALTER TABLE projection_1.transactions FORCE ROW LEVEL SECURITY
            """
        ),
        (
            "trigger lost of projection_1.transactions",
            """
            CREATE FUNCTION projection_1.drop_row() RETURNS trigger LANGUAGE plpgsql
            AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER lost BEFORE INSERT ON projection_1.transactions
            FOR EACH ROW EXECUTE FUNCTION projection_1.drop_row()
            """
        ),
        (
            "projection.ledger_projection is not a table",
            """
            ALTER TABLE projection.ledger_projection RENAME TO l;
            CREATE VIEW projection.ledger_projection AS SELECT * FROM projection.l;
            GRANT SELECT ON projection.ledger_projection TO ledger_reader, ledger_writer
            """
        ),
    ])
    func `what shows each role other rows is named`(what: String, sql: String) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle("SET ROLE ledger_projector; \(sql)")
            let ending = try await command.run("migrate", "--dry-run")
            #expect((ending.output + ending.errors).contains(what), "\(ending)")
        }
    }

    @Test func `tables that state a later position than the log has are named`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle(
                """
                SET ROLE ledger_projector;
                UPDATE projection.ledger_projection SET lane_offset = lane_offset + 1000
                """
            )
            #expect(try await command.run("tables", "check").code == 3)
            let doctor = try await command.run("doctor", "--json")
            #expect(doctor.code == 1)
            #expect(doctor.output.contains("more events than the log"), "\(doctor.output)")
        }
    }

    @Test func `a live table that became a view is named`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle(
                """
                SET ROLE ledger_projector;
                ALTER TABLE projection_1.refunds RENAME TO r;
                CREATE VIEW projection_1.refunds AS SELECT * FROM projection_1.r;
                GRANT SELECT ON projection_1.refunds TO ledger_reader, ledger_writer;
                CREATE OR REPLACE VIEW projection.refunds AS SELECT * FROM projection_1.refunds
                """
            )
            for words in [["tables", "check"], ["migrate"], ["doctor", "--json"]] {
                let ending = try await command.run(words)
                let all = ending.output + ending.errors
                #expect(all.contains("projection_1.refunds"), "\(words): \(all)")
            }
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
            sql: "DROP VIEW projection.refunds CASCADE",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "CREATE OR REPLACE VIEW projection.refunds AS SELECT * FROM \(table) WHERE false",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds CASCADE; \(view) LIMIT 1000",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds CASCADE; "
                + "CREATE VIEW projection.refunds AS SELECT environment FROM \(table)",
            kind: "view",
            words: hidden
        ),
        Alteration(
            sql: "DROP VIEW projection.refunds CASCADE; "
                + "CREATE TABLE projection.refunds AS SELECT * FROM \(table)",
            kind: "view",
            words: hidden,
            next: "ALTER TABLE projection.refunds RENAME TO copied"
        ),
    ]

    // A column that a view shows can be neither dropped nor given another type.
    private var afterDropOfTheView: Alteration {
        Alteration(
            sql: "DROP VIEW projection.refunds CASCADE; \(sql); \(Alteration.view)",
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
