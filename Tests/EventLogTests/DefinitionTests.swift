import EventLog
import Postgres
import TestSupport
import Testing

/// Altered columns and constraints of the tables of the log.
@Suite(.enabled { await TestServer.isAvailable })
struct DefinitionTests {
    /// What an owner alters in the definition of a table, and what is reported.
    @Test(arguments: [
        (
            "ALTER TABLE operation.currency_rate DROP CONSTRAINT currency_rate_is_positive",
            "constraint currency_rate_is_positive of operation.currency_rate", true
        ),
        (
            """
            ALTER TABLE ledger.event DROP CONSTRAINT event_kind_known,
                ADD CONSTRAINT event_kind_known CHECK (true)
            """, "constraint event_kind_known of ledger.event", true
        ),
        ("ALTER TABLE ledger.event ADD COLUMN note text", "column note of ledger.event", false),
        (
            "ALTER TABLE ledger.confirmation ALTER COLUMN salt DROP NOT NULL",
            "column salt of ledger.confirmation", false
        ),
        (
            "ALTER TABLE operation.currency_rate ALTER COLUMN rate SET DEFAULT 1",
            "column rate of operation.currency_rate", false
        ),
    ])
    func `an altered definition of a table is named, and a constraint is repaired`(
        sql: String,
        what: String,
        isMended: Bool
    ) async throws {
        for variant in [Variant.plain, Variant.localExtremes[1]] {
            try await variant.withDatabase { settings in
                try await Inspector.inspect(settings) { inspector in
                    try await inspector.session.execute("SET ROLE ledger_owner; \(sql)")
                }
                let inspected = LedgerInspector(settings)
                #expect(try await inspected.differences() == [what])
                #expect(try await Migrator.migrate(settings).mended == [what])
                #expect(try await inspected.differences() == (isMended ? [] : [what]))
            }
        }
    }
}
