import EmbeddedPostgres
import Postgres
import Subledger
import TestSupport
import Testing

/// Which private servers stop with the last ledger: those that this process started for itself.
@Suite(.enabled { await TestServer.isAvailable })
struct PrivateServerTests {
    private static func isRunning(_ home: String) async throws -> Bool {
        if case .running = try await EmbeddedServer(home: home).status() { true } else { false }
    }

    @Test func `a server that this process started stops with its last ledger`() async throws {
        let folder = try TestFolder()
        let home = folder.path(of: "home")
        try await Ledger.migrate(.embedded(home: home))
        let ledger = try await Ledger.open(.embedded(home: home))
        let second = try await Ledger.open(.embedded(home: home))
        await ledger.close()
        await ledger.close()
        #expect(try await Self.isRunning(home), "another ledger of this process uses it")
        _ = try await second.log.heads()
        await second.close()
        #expect(try await !Self.isRunning(home))
        let again = try await Ledger.open(.embedded(home: home))
        #expect(try await again.log.heads().isEmpty, "the data stays")
        await again.close()
        #expect(try await !Self.isRunning(home))
    }

    @Test func `a server that ran before goes on, and one that another program uses`()
        async throws
    {
        let folder = try TestFolder()
        let home = folder.path(of: "home")
        let server = EmbeddedServer(home: home)
        _ = try await server.start()
        try await Ledger.migrate(.embedded(home: home))
        await (try await Ledger.open(.embedded(home: home))).close()
        #expect(try await Self.isRunning(home))
        try await server.stop()

        let ledger = try await Ledger.open(.embedded(home: home))
        var settings = try await server.start()
        settings.applicationName = "psql"
        let session = try await PostgresSession.connect(settings)
        await ledger.close()
        #expect(try await session.query("SELECT 1", []).count == 1)
        await session.close()
        try await server.stop()
    }
}
