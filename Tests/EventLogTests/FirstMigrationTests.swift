import EmbeddedPostgres
import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

/// The first ledgers of a cluster, whose migrations also create the roles.
@Suite(.enabled { await TestServer.isAvailable })
struct FirstMigrationTests {
    @Test func `two first migrations in one cluster wait for each other`() async throws {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: .init(lifetime: .process, settings: ["fsync": "off"])
        )
        let settings = try await server.start()
        let other = try await PostgresSession.connect(settings)
        try await other.execute("BEGIN; CREATE ROLE ledger_owner NOLOGIN")
        async let changes = Migrator.migrate(settings, lockTimeoutSeconds: 1)
        var isWaiting = false
        while !isWaiting {
            isWaiting = try await other.query(
                "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
            )[0].bool(0)
        }
        // Longer than a migration waits for a table.
        try await Task.sleep(for: .milliseconds(1500))
        try await other.execute("COMMIT")
        #expect(try await !changes.applied.isEmpty)
        await other.close()
        try await server.stop()
    }
}
