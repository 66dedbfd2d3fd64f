import Foundation
import Postgres
import TestSupport
import Testing

/// Sessions through a real PgBouncer.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled(if: Acceptance.isRunning, "make acceptance runs it")
)
struct PoolerTests {
    @Test func `a pooler in transaction mode is refused with advice on what to do`() async throws {
        let server = try await TestServer.shared.settings()
        // Small and large pools, fresh and used connections, and a pooler that resets them.
        for options in [[], ["default_pool_size = 1"], ["server_reset_query_always = 1"]] {
            let pooler = try await PgBouncer(of: server, mode: .transaction, options: options)
            for _ in 0..<3 {
                let error = await #expect(throws: PostgresError.self) {
                    try await PostgresSession.connect(pooler.settings)
                }
                #expect(error?.code == .sharedConnection, "\(options)")
                #expect(error?.isRetryable == false)
                #expect(error?.description.contains("pool_mode = session") == true)
            }
        }
    }

    @Test func `a pooler in session mode works like the server itself`() async throws {
        let server = try await TestServer.shared.settings()
        for options in [[], ["default_pool_size = 2"]] {
            let pooler = try await PgBouncer(of: server, mode: .session, options: options)
            for _ in 0..<3 {
                let first = try await PostgresSession.connect(pooler.settings)
                let second = try await PostgresSession.connect(pooler.settings)
                for session in [first, second] {
                    for number in 1...3 {
                        let row = try await session.query("SELECT $1", [.int4(Int32(number))])
                        #expect(try row.single().int4(0) == Int32(number))
                    }
                    await session.close()
                }
            }
        }
    }

    /// In session mode a client waits for a server connection; that wait is not a refusal.
    @Test func `a pooler with only one server connection still serves a session`() async throws {
        let server = try await TestServer.shared.settings()
        let pooler = try await PgBouncer(
            of: server,
            mode: .session,
            options: ["default_pool_size = 1"]
        )
        let session = try await PostgresSession.connect(pooler.settings)
        #expect(try await session.query("SELECT 1").single().int8(0) == 1)
        await session.close()
    }

    @Test func `a statement whose name another session has taken ends the session`()
        async throws
    {
        let server = try await TestServer.shared.settings()
        let pooler = try await PgBouncer(of: server, mode: .session)
        let session = try await PostgresSession.connect(pooler.settings)
        // The statement that a pooler in transaction mode would have left on the connection.
        try await session.execute("PREPARE s1 AS SELECT 1")
        let code = await codeOf { _ = try await session.query("SELECT 2") }
        #expect(code == .sharedConnection)
        #expect(await session.isBroken)
    }
}

/// The short form of ``PoolerTests``, without a PgBouncer.
@Suite(.enabled { await TestServer.isAvailable })
struct PoolerDetectionTests {
    @Test func `PostgreSQL itself is never mistaken for a pooler`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let name = try #require(settings.database)
            let admin = try await PostgresSession.connect(settings)
            // Even if an operator has set the parameter that the detection reads.
            try await admin.execute("ALTER DATABASE \(name) SET subledger.session = 'mine'")
            for _ in 0..<3 {
                let session = try await PostgresSession.connect(settings)
                try await session.execute("PREPARE s1 AS SELECT 1")
                let code = await codeOf { _ = try await session.query("SELECT 2") }
                #expect(code == .server("42P05"))
                await session.close()
            }
        }
    }
}
