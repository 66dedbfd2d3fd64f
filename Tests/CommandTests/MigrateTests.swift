import Foundation
import Postgres
import TestSupport
import Testing

/// `migrate` from the outside, on databases without a ledger.
@Suite(.enabled { await TestServer.isAvailable })
struct MigrateTests {
    private struct Report: Decodable {
        let applied: [String]
        let dryRun: Bool
        let version: Int
    }

    private struct Line: Decodable {
        let version: Int
        let name: String
        let applied: Bool
    }

    @Test func `a dry run changes nothing, a run everything, a second run nothing`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            let dry = try await command.json(Report.self, "migrate", "--dry-run")
            #expect(dry.dryRun && dry.applied.first == "v001-ledger")
            #expect(
                try await settings.number(
                    "SELECT count(*) FROM pg_namespace WHERE nspname = 'ledger'"
                ) == 0
            )
            let before = try await command.json([Line].self, "migrate", "status")
            #expect(before.allSatisfy { !$0.applied })
            #expect(try await command.json(Report.self, "migrate").applied == dry.applied)
            let after = try await command.json([Line].self, "migrate", "status")
            #expect(after.map(\.name) == dry.applied && after.allSatisfy { $0.applied })
            #expect(after.last?.version == dry.version)
            #expect(try await command.json(Report.self, "migrate").applied.isEmpty)
            #expect(try await command.expect(0, "migrate").contains("up to date"))
            try await command.expectSoundLog(events: 0)
        }
    }

    @Test func `lanes and partitions are created, and the number of lanes stays`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            try await command.expect(0, "migrate", "--lanes", "4", "--partitions", "2")
            #expect(try await settings.number("SELECT count(*) FROM ledger.lane") == 4)
            #expect(
                try await settings.number(
                    "SELECT count(*) FROM pg_inherits "
                        + "WHERE inhparent = 'ledger.event'::regclass"
                ) == 2
            )
            try await command.expect(0, "migrate", "--lanes", "4")
            let other = try await command.run("migrate", "--lanes", "8")
            #expect(other.code == 78)
            #expect(other.errors.contains("[lane-count-fixed]"))
            let simulation = try await Simulation.shared
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await command.expectSoundLog()
            #expect(try await command.rebuiltDigest().count == 7)
        }
    }

    @Test func `the number of lanes is announced first, and only if none was requested`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            let help = try await command.expect(0, "migrate", "--help")
            #expect(help.contains("never be changed") && help.contains("--lanes 256"), "\(help)")
            let first = try await command.run("migrate")
            #expect(first.code == 0)
            #expect(first.errors.contains("1 lane. The number of lanes can never be changed"))
            #expect(try await command.run("migrate").errors.isEmpty)
        }
        try await TestServer.shared.withDatabase { settings in
            let asked = try await Command(settings).run("migrate", "--lanes", "1")
            #expect(asked.code == 0 && asked.errors.isEmpty, "\(asked.errors)")
        }
    }

    @Test func `a table that stays in use exits with 75 and names who uses it`() async throws {
        try await withLedger { command, settings in
            try await settings.meddle("ALTER TABLE ledger.event OWNER TO CURRENT_USER")
            var reading = settings
            reading.applicationName = "monthly report"
            let reader = try await PostgresSession.connect(reading)
            try await reader.execute("BEGIN")
            _ = try await reader.query("SELECT count(*) FROM ledger.event")
            let refused = try await command.run("migrate", "--lock-timeout", "1")
            #expect(refused.code == 75, "\(refused.errors)")
            #expect(refused.errors.contains("monthly report"), "\(refused.errors)")
            #expect(refused.errors.contains("[table-in-use]"), "\(refused.errors)")
            await reader.close()
            let mended = try await command.expect(0, "migrate", "--lock-timeout", "60")
            #expect(mended.contains("owner of ledger.event"), "\(mended)")
            try await command.expect(64, "migrate", "--lock-timeout", "0")
        }
    }

    @Test func `concurrent migrations apply each step once`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            let applied = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<3 {
                    group.addTask { try await command.json(Report.self, "migrate").applied }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(
                applied == [
                    "v001-ledger", "v002-checkpoint", "v003-erasure", "v004-continuation",
                    "v005-rejection",
                    "v006-rejection-arrival",
                    "v007-currency-rate",
                    "v008-newest-signature", "v009-lookup-key", "v010-lookup-lane",
                    "v011-repair", "v012-rejection-standing",
                    "v013-token-limit", "v014-audit",
                    "v015-evidence-file", "v016-apple-order", "v017-bounded-values",
                    "v018-proceeds-rate", "v019-consumer", "v020-webhook", "v021-delivery",
                    "v022-relay", "v023-alert", "v024-consumer-stream", "v025-consumption",
                ]
            )
        }
    }
}
