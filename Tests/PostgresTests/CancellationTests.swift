import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct CancellationTests {
    private static let isSleeping = """
        SELECT count(*) = 1 FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND wait_event = 'PgSleep'
        """

    /// Runs work that sleeps in the server, cancels it there and returns how it ended.
    private static func cancelled(
        _ settings: ConnectionSettings,
        _ work: @escaping @Sendable (PostgresSession) async throws -> Void
    ) async throws -> PostgresError.Code? {
        let session = try await PostgresSession.connect(settings)
        let watcher = try await PostgresSession.connect(settings)
        let task = Task { await codeOf { try await work(session) } }
        try await waitUntil(watcher, isSleeping)
        task.cancel()
        let code = await task.value
        let row = try await session.query("SELECT 1").single()
        #expect(try row.int8(0) == 1, "the session survives")
        return code
    }

    @Test func `cancelling a task stops its query in the server`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let code = try await Self.cancelled(settings) { session in
                _ = try await session.query("SELECT pg_sleep(60)")
            }
            #expect(code == .cancelled)
        }
    }

    @Test func `cancelling a task rolls back its transaction and its pipeline`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (i int)")
            let code = try await Self.cancelled(settings) { session in
                try await session.transaction { db throws(PostgresError) in
                    try db.query("INSERT INTO public.t VALUES (1)")
                    try db.pipeline([
                        PostgresStatement("INSERT INTO public.t VALUES (2)"),
                        PostgresStatement("SELECT pg_sleep(60)"),
                    ])
                }
            }
            #expect(code == .cancelled)
            let row = try await session.query("SELECT count(*) FROM public.t").single()
            #expect(try row.int8(0) == 0)
        }
    }

    @Test func `cancelling a task stops its COPY`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let code = try await Self.cancelled(settings) { session in
                _ = try await session.copyOut(
                    "COPY (SELECT pg_sleep(60)) TO STDOUT",
                    into: 0
                ) { (_, _: UnsafeRawBufferPointer) throws(PostgresError) in }
            }
            #expect(code == .cancelled)
        }
    }

    @Test func `a task that is already cancelled sends nothing`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (i int)")
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await codeOf {
                    _ = try await session.query("INSERT INTO public.t VALUES (1)")
                }
            }
            let code = await task.value
            #expect(code == .cancelled)
            let row = try await session.query("SELECT count(*) FROM public.t").single()
            #expect(try row.int8(0) == 0)
        }
    }

    @Test func `a time limit of the server is not reported as a cancellation`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("SET statement_timeout = '20ms'")
            let code = await codeOf { _ = try await session.query("SELECT pg_sleep(60)") }
            #expect(code == .server("57014"))
        }
    }
}
