import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// The first ledger of a cluster without access to its superuser, as on managed servers.
@Suite(.enabled { await TestServer.isAvailable })
struct FirstOwnerTests {
    /// Since PostgreSQL 16, a role that makes another may not become it unless it grants itself
    /// that, or `createrole_self_grant` does.
    @Test(arguments: ["", "set, inherit"])
    func `a login with CREATEROLE and its own database needs no superuser`(
        selfGrant: String
    ) async throws {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: .init(lifetime: .process, settings: ["fsync": "off"])
        )
        let admin = try await server.start()
        let isSetting = try await admin.number(
            "SELECT count(*) FROM pg_settings WHERE name = 'createrole_self_grant'"
        )
        guard selfGrant.isEmpty || isSetting > 0 else { return try await server.stop() }
        try await admin.meddle("CREATE ROLE founder LOGIN CREATEROLE")
        if !selfGrant.isEmpty {
            try await admin.meddle(
                "ALTER ROLE founder SET createrole_self_grant = '\(selfGrant)'"
            )
        }
        let session = try await PostgresSession.connect(admin)
        try await session.execute("CREATE DATABASE ledger OWNER founder TEMPLATE template0")
        await session.close()
        var settings = admin.loggedIn(as: "founder")
        settings.database = "ledger"
        let founder = Command(settings)
        let simulation = try await Simulation.shared
        try await founder.expect(0, "migrate", "--lanes", "4")
        #expect(try await founder.expect(0, "migrate").contains("up to date"))
        try await founder.expect(0, simulation.arguments + [simulation.payloads])
        for arguments in [
            ["rebuild", "--quiet"], ["follow", "--once", "--quiet"],
            ["tables", "check", "--quiet"], ["tables", "diff", "--quiet"],
            ["tables", "promote", "--quiet"], ["checkpoint"], ["report", "drift"],
        ] { try await founder.expect(0, arguments) }
        try await founder.expectSoundLog()
        // The owner can also repair a guard that was removed.
        var damaged = admin
        damaged.database = "ledger"
        try await damaged.meddle("DROP TRIGGER append_only_statement ON ledger.event")
        try await founder.expect(0, "migrate")
        try await server.stop()
    }
}
