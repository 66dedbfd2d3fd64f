import TestSupport
import Testing

/// Schemas of the user whose names look like a rebuild's.
@Suite(.enabled { await TestServer.isAvailable })
struct ForeignSchemaTests {
    @Test func `a table that no rebuild has created is not dropped`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle(
                """
                CREATE SCHEMA projection_2024 AUTHORIZATION ledger_projector;
                SET ROLE ledger_projector;
                CREATE TABLE projection_2024.budget AS SELECT 1 AS number
                """
            )
            let ending = try await command.run("tables", "discard")
            #expect(ending.code == 0, "\(ending.errors)")
            let left = "SELECT count(*) FROM pg_class WHERE relname = 'budget'"
            #expect(try await settings.number(left) == 1, "\(ending.errors)")
        }
    }

    @Test func `another role's schema with such a name does not block a rebuild`()
        async throws
    {
        try await withSimulatedLedger { command, settings in
            try await settings.meddle(
                """
                CREATE SCHEMA projection_2024;
                CREATE TABLE projection_2024.budget AS SELECT 1 AS number
                """
            )
            let ending = try await command.run("rebuild", "--quiet")
            #expect(ending.code == 0, "\(ending.errors)")
            let left = "SELECT count(*) FROM projection_2024.budget"
            #expect(try await settings.number(left) == 1)
        }
    }
}
