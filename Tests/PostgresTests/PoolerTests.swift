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

    @Test func `a pooler that resets the server behind a session does not stop the session`()
        async throws
    {
        let server = try await TestServer.shared.settings()
        let pooler = try await PgBouncer(of: server, mode: .session)
        try await ExchangedServerTests.expectRepeated(
            on: try await PostgresSession.connect(pooler.settings)
        )
    }
}

/// A server that a pooler exchanged under a session: it lacks the prepared statements and settings,
/// and has those of other sessions.
@Suite(.enabled { await TestServer.isAvailable })
struct ExchangedServerTests {
    private static let role = "pg_read_all_data"

    /// Exchanges the server behind the session, as far as a session can see.
    private static func exchange(_ session: PostgresSession) async throws {
        try await session.execute("DISCARD ALL")
        for number in 1...9 {
            // Another session's, of the same number, once with other parameters.
            try await session.execute(
                "PREPARE s\(number) AS SELECT \(number.isMultiple(of: 2) ? "$1::int" : "7")"
            )
        }
    }

    static func expectRepeated(
        on session: PostgresSession,
        as user: String = "subledger"
    ) async throws {
        let text = "SELECT $1, current_user::text, current_setting('search_path')"
        for number in Int32(1)...4 {
            // Both ways to run one, each on a server of its own.
            let read = PostgresStatement(text, [.int4(number)])
            let row =
                if number.isMultiple(of: 2) {
                    try await session.pipelineTransaction([read])[0].single()
                } else {
                    try await session.query(text, [.int4(number)]).single()
                }
            #expect(try row.int4(0) == number)
            #expect(try row.text(1) == user)
            #expect(try row.text(2) == "pg_catalog, pg_temp")
            try await exchange(session)
        }
    }

    @Test func `a statement outside a transaction is repeated once on a new connection`()
        async throws
    {
        var settings = try await TestServer.shared.settings()
        settings.role = Self.role
        let session = try await PostgresSession.connect(settings)
        try await Self.expectRepeated(on: session, as: Self.role)
    }

    @Test func `statements that plan generically are repeated with their settings`() async throws {
        let session = try await PostgresSession.connect(try await TestServer.shared.settings())
        let read = PostgresStatement("SELECT current_setting('plan_cache_mode')", [])
        for _ in 0..<2 {
            let rows = try await session.pipeline([read], planning: .generic)
            #expect(try rows[0].single().text(0) == "force_generic_plan")
            try await Self.exchange(session)
        }
    }

    @Test func `a statement in a transaction fails as a lost connection and keeps nothing`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (i int)")
            let write = "INSERT INTO public.t VALUES ($1)"
            _ = try await session.query(write, [.int4(1)])
            try await Self.exchange(session)
            let error = await #expect(throws: PostgresError.self) {
                try await session.transaction { db throws(PostgresError) in
                    try db.execute("INSERT INTO public.t VALUES (2)")
                    try db.query(write, [.int4(3)])
                }
            }
            #expect(error?.code == .connectionLost && error?.isRetryable == true)
            #expect(await session.isBroken)
            let other = try await PostgresSession.connect(settings)
            #expect(try await other.query("SELECT count(*) FROM public.t").single().int8(0) == 1)
        }
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
                #expect(try await session.query("SELECT 2").single().int4(0) == 2)
                await session.close()
            }
        }
    }
}
