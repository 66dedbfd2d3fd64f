import EventLog
import Postgres
import TestSupport
import Testing

/// No migration waits longer for a lock than it was told, also for tables that it only reads.
@Suite(.enabled { await TestServer.isAvailable })
struct MigrationLockTests {
    @Test(arguments: ["ledger.migration", "ledger.ledger_config", "ledger.event"])
    func `a table that is locked as a whole ends the migration after its limit`(
        table: String
    ) async throws {
        try await Variant.plain.withDatabase { settings in
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(
                    "ALTER TABLE ledger.event OWNER TO CURRENT_USER; "
                        + "DROP INDEX ledger.event_erasure"
                )
                try await inspector.session.execute(
                    "BEGIN; LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE"
                )
                let error = await #expect(throws: EventLogError.self) {
                    _ = try await Migrator.migrate(settings, lockTimeoutSeconds: 1)
                }
                #expect(error?.code == .tableInUse, "\(error as Any)")
                #expect(error?.message.contains("AccessExclusiveLock on \(table)") == true)
                try await inspector.session.execute("ROLLBACK")
                let changes = try await Migrator.migrate(settings, lockTimeoutSeconds: 1)
                #expect(changes.indexed == ["ledger.event_erasure"])
            }
        }
    }
}
