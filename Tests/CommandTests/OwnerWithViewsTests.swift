import Foundation
import TestSupport
import Testing

/// A member of ledger_projector in a database where others have built views on those of
/// projections.
@Suite(.enabled { await TestServer.isAvailable })
struct OwnerWithViewsTests {
    @Test func `a user's own view does not require more rights for a promotion`() async throws {
        let role = "promoter_\(ProcessInfo.processInfo.processIdentifier)"
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await settings.meddle(
                """
                CREATE ROLE \(role) LOGIN; GRANT ledger_projector TO \(role);
                CREATE VIEW public.report AS SELECT * FROM projection.refunds
                """
            )
            try await command.expect(0, "tables", "diff", "--quiet")
            // schema/README.md: `tables promote` needs ledger_projector, and no right to make
            // schemas.
            let promoter = Command(
                environment: command.environment.merging(["PGOPTIONS": "-c role=\(role)"]) { $1 }
            )
            let ending = try await promoter.run("tables", "promote", "--quiet")
            #expect(ending.code == 0, "\(ending.errors)")
            try await settings.meddle("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }

    @Test func `tables that are not named stay in their separate schema`() async throws {
        try await withSimulatedLedger { command, settings in
            try await command.expect(0, "rebuild", "--into", "kept", "--quiet")
            _ = try await command.run("tables", "discard", "--schema", "kept", "refunds")
            let left =
                "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('kept')"
                + " AND relkind = 'r' AND relname <> 'refunds'"
            #expect(try await settings.number(left) == 6)
        }
    }
}
