import Foundation
import Postgres
import TestSupport
import Testing

/// Databases as teams have them: with their own limits and defaults, and behind a pooler.
@Suite(.enabled { await TestServer.isAvailable })
struct DatabaseSettingsTests {
    @Test func `a read-only default and short limits of time break nothing`()
        async throws
    {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let first = try folder.write(
            "first.ndjson",
            try simulation.allPayloads().prefix(40).joined(separator: [0x0a])
        )
        try await withLedger { command, settings in
            let name = try #require(settings.database)
            try await settings.meddle(
                """
                ALTER DATABASE \(name) SET default_transaction_read_only = on;
                ALTER DATABASE \(name) SET idle_in_transaction_session_timeout = '1ms';
                """
            )
            try await command.expect(0, "migrate")
            try await command.expect(0, simulation.arguments + [first])
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await command.expect(0, "follow", "--once", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
            try await command.expectSoundLog()
        }
    }

    @Test(.enabled(if: Acceptance.isRunning, "make acceptance runs it"))
    func `a pooler in transaction mode exits with 78, one in session mode serves every command`()
        async throws
    {
        let simulation = try await Simulation.shared
        try await withLedger { _, settings in
            let refusing = try await PgBouncer(of: settings, mode: .transaction)
            for arguments in [
                ["verify"], ["migrate"], ["rebuild"], ["ingest", simulation.payloads],
            ] {
                let ending = try await Command(refusing.settings).run(arguments)
                #expect(ending.code == 78, "\(arguments): \(ending.errors)")
                #expect(ending.errors.contains("[shared-connection]"), "\(ending.errors)")
                #expect(ending.errors.contains("pool_mode = session"), "\(ending.errors)")
            }
            let pooler = try await PgBouncer(of: settings, mode: .session)
            let command = Command(pooler.settings)
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, "follow", "--once", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
            try await command.expectSoundLog()
        }
    }
}
