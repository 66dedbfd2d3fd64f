import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct PlanningTests {
    private static let setting = PostgresStatement(
        """
        SELECT current_setting('plan_cache_mode')
            || CASE WHEN current_setting('max_parallel_workers_per_gather') = '0'
                THEN ', alone' ELSE '' END
            || CASE WHEN current_setting('citus.max_adaptive_executor_pool_size', true) = '1'
                THEN ', once' ELSE '' END
        """
    )

    private static func mode(
        _ session: isolated PostgresSession,
        _ planning: PostgresSession.Planning = .automatic
    ) throws(PostgresError) -> String {
        try session.pipeline([setting], planning: planning)[0].single().text(0)
    }

    @Test func `plans are made as each pipeline asks, and as the server is set otherwise`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            #expect(try await Self.mode(session) == "auto")
            #expect(try await Self.mode(session, .generic) == "force_generic_plan, alone, once")
            #expect(try await Self.mode(session, .generic) == "force_generic_plan, alone, once")
            #expect(try await Self.mode(session) == "auto")
        }
    }

    @Test func `a transaction that is rolled back takes no plan of the session along`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            #expect(try await Self.mode(session, .generic) == "force_generic_plan, alone, once")
            await #expect(throws: PostgresError.self) {
                try await session.transaction { session throws(PostgresError) in
                    #expect(try Self.mode(session) == "auto")
                    #expect(try Self.mode(session, .generic) == "force_generic_plan, alone, once")
                    try session.query("SELECT 1 / 0")
                }
            }
            #expect(try await Self.mode(session) == "auto")
            #expect(try await Self.mode(session, .generic) == "force_generic_plan, alone, once")
        }
    }

    @Test func `a pipeline that fails changes no plan, and names its own statement`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let error = await #expect(throws: PostgresError.self) {
                try await session.pipeline(
                    [Self.setting, PostgresStatement("SELECT 1 / 0")],
                    planning: .generic
                )
            }
            #expect(error?.statementIndex == 1)
            #expect(try await Self.mode(session) == "auto")
            #expect(try await Self.mode(session, .generic) == "force_generic_plan, alone, once")
        }
    }
}
