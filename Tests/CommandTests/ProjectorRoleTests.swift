import Foundation
import Postgres
import TestSupport
import Testing

/// What the role that owns the projections' tables may not do to the log.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled("the tests' own server lets every role in") {
        ProcessInfo.processInfo.environment["SUBLEDGER_TEST_DATABASE_URL"] == nil
    }
)
struct ProjectorRoleTests {
    private static let attempts = [
        "ALTER TABLE ledger.event DISABLE TRIGGER append_only_statement",
        "ALTER TABLE ledger.event DISABLE TRIGGER ALL",
        "DROP TRIGGER append_only_statement ON ledger.event",
        "CREATE TRIGGER mine BEFORE INSERT ON ledger.event EXECUTE FUNCTION ledger.refuse_change()",
        "CREATE RULE mine AS ON INSERT TO ledger.event DO INSTEAD NOTHING",
        "ALTER TABLE ledger.event OWNER TO ledger_projector",
        "ALTER TABLE ledger.event ADD COLUMN mine int",
        "ALTER TABLE ledger.event ENABLE ROW LEVEL SECURITY",
        "DROP TABLE ledger.event",
        "TRUNCATE ledger.event",
        "UPDATE ledger.event SET content = content",
        "DELETE FROM ledger.event",
        "INSERT INTO ledger.event SELECT * FROM ledger.event",
        "INSERT INTO ledger.migration (version, name, checksum) VALUES (99, 'mine', '')",
        "INSERT INTO ledger.rejection SELECT * FROM ledger.rejection",
        "SELECT FROM ledger.lane FOR UPDATE",
        "LOCK TABLE ledger.event IN SHARE MODE",
        "CREATE TABLE ledger.mine (number int)",
        "CREATE VIEW ledger.mine AS SELECT 1",
        "CREATE FUNCTION ledger.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        """
        CREATE OR REPLACE FUNCTION ledger.refuse_change() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RETURN NULL; END'
        """,
        "ALTER FUNCTION ledger.lane_of(text) RENAME TO other",
        "ALTER SCHEMA ledger RENAME TO other",
        "CREATE TABLE operation.mine (number int)",
        "ALTER TABLE operation.lease DISABLE TRIGGER ALL",
        "GRANT ledger_owner TO ledger_projector",
        "SET ROLE ledger_owner",
        "SET ROLE ledger_writer",
        "SET ROLE ledger_eraser",
        "SET session_replication_role = replica",
    ]

    @Test func `the projector role reads the log and cannot change it`() async throws {
        try await withSimulatedLedger { command, settings in
            let login = "projector_\(ProcessInfo.processInfo.processIdentifier)"
            let database = try #require(settings.database)
            try await settings.meddle(
                """
                CREATE ROLE \(login) LOGIN; GRANT ledger_projector TO \(login);
                GRANT CREATE ON DATABASE \(database) TO \(login)
                """
            )
            let projector = Command(settings.loggedIn(as: login))
            for arguments in [
                ["rebuild", "--quiet"], ["follow", "--once", "--quiet"],
                ["tables", "diff", "--quiet"], ["tables", "promote", "--quiet"],
                ["rebuild", "--into", "kept", "--quiet"], ["tables", "check", "--quiet"],
                ["tables", "discard", "--schema", "kept", "--quiet"],
            ] { try await projector.expect(0, arguments) }
            let owners = try await settings.text(
                """
                SELECT string_agg(DISTINCT owner::regrole::text, ' ') FROM (
                    SELECT nspowner, oid FROM pg_namespace WHERE starts_with(nspname, 'projection')
                    UNION ALL SELECT relowner, relnamespace FROM pg_class
                    WHERE starts_with(relnamespace::regnamespace::text, 'projection')
                ) o (owner, oid)
                """
            )
            #expect(owners == "ledger_projector")
            let session = try await PostgresSession.connect(settings.loggedIn(as: login))
            for role in [nil, "ledger_projector"] {
                try await session.execute("SET ROLE \(role ?? "NONE")")
                for attempt in Self.attempts {
                    let state = await Self.refusal(of: attempt, session)
                    let text: Comment = "\(role ?? login): \(attempt): \(state ?? "accepted")"
                    #expect(state == "42501", text)
                }
            }
            // A role with any privilege on a table only gets a warning.
            try await session.execute("GRANT UPDATE ON ledger.event TO ledger_projector")
            await session.close()
            let root = try await Simulation.shared.root
            try await command.expect(0, "verify", "--signatures", "--root-certificate", root)
            #expect(try await command.expect(0, "migrate").contains("up to date"))
            try await settings.meddle(
                "REASSIGN OWNED BY \(login) TO ledger_projector; DROP OWNED BY \(login); "
                    + "DROP ROLE \(login)"
            )
        }
    }

    /// The SQLSTATE of a refused statement; nil if it was accepted, in which case it is rolled
    /// back.
    private static func refusal(of statement: String, _ session: PostgresSession) async -> String? {
        do throws(PostgresError) {
            try await session.execute("BEGIN; \(statement); ROLLBACK")
            return nil
        } catch {
            do throws(PostgresError) {
                try await session.execute("ROLLBACK")
            } catch {
                return error.sqlState
            }
            return error.sqlState
        }
    }
}
