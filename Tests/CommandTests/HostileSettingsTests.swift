import Foundation
import Postgres
import TestSupport
import Testing

/// A ledger in a database that prints dates, bytes and names in another form than usual.
@Suite(.enabled { await TestServer.isAvailable })
struct HostileSettingsTests {
    @Test func `a database with other output formats is migrated, filled and found whole`()
        async throws
    {
        let simulation = try await Simulation.shared
        try await TestServer.shared.withDatabase { settings in
            let name = try #require(settings.database)
            for (setting, value) in HostileShadows.printing {
                try await settings.meddle("ALTER DATABASE \(name) SET \(setting) = '\(value)'")
            }
            let command = Command(settings)
            try await command.expect(0, "migrate")
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await command.expect(0, "rebuild", "--quiet")
            let again = try await command.expect(0, "migrate")
            #expect(again.hasPrefix("the schema is up to date"), "\(again)")
            try await command.expect(0, "tables", "check")
            try await command.expect(0, "verify")
            // It exits with 1 where the server of the tests does not flush.
            let doctor = try await command.run("doctor", "--json")
            let report = try JSONDecoder().decode(Report.self, from: Data(doctor.output.utf8))
            for check in ["schema", "objects", "append", "tables"] {
                let found = report.checks.filter { $0.check == check }
                #expect(found.map(\.result) == ["ok"], "\(found)")
            }
        }
    }

    private struct Report: Decodable {
        let checks: [Check]

        struct Check: Decodable {
            let check: String
            let result: String
            let message: String
        }
    }
}
