@testable import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct PipelineTests {
    private static func insert(_ value: Int32) -> PostgresStatement {
        PostgresStatement("INSERT INTO public.t VALUES ($1)", [.int4(value)])
    }

    private static func table(_ settings: ConnectionSettings) async throws -> PostgresSession {
        let session = try await PostgresSession.connect(settings)
        try await session.execute("CREATE TABLE public.t (i int PRIMARY KEY)")
        return session
    }

    private static func count(_ session: PostgresSession) async throws -> Int64 {
        try await session.query("SELECT count(*) FROM public.t").single().int8(0)
    }

    @Test func `every statement returns its own rows`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await Self.table(settings)
            let results = try await session.pipeline([
                Self.insert(1), Self.insert(2),
                PostgresStatement("SELECT i FROM public.t ORDER BY i"),
                PostgresStatement("DELETE FROM public.t"),
            ])
            #expect(results.map(\.count) == [0, 0, 2, 0])
            let none = try await session.pipeline([])
            #expect(none.isEmpty)
        }
    }

    @Test func `a failure rolls everything back and names its statement`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await Self.table(settings)
            let error = await #expect(throws: PostgresError.self) {
                try await session.pipeline([
                    Self.insert(1), Self.insert(2), Self.insert(1), Self.insert(3),
                ])
            }
            #expect(error?.code == .server("23505"))
            #expect(error?.statementIndex == 2)
            #expect(error?.constraintName == "t_pkey")
            #expect(try await Self.count(session) == 0)
            try await session.pipeline([Self.insert(1)])
            #expect(try await Self.count(session) == 1)
        }
    }

    @Test func `a commit that a deferred constraint refuses names no statement`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await Self.table(settings)
            try await session.execute(
                "CREATE TABLE public.d (i int UNIQUE DEFERRABLE INITIALLY DEFERRED)"
            )
            let twice = PostgresStatement("INSERT INTO public.d VALUES (1)")
            let error = await #expect(throws: PostgresError.self) {
                try await session.pipeline([twice, twice, Self.insert(7)])
            }
            #expect(error?.code == .server("23505"))
            #expect(error?.statementIndex == nil)
            #expect(try await Self.count(session) == 0)
        }
    }

    @Test func `a pipeline inside a transaction does not commit`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await Self.table(settings)
            let refusal = await codeOf {
                try await session.transaction { db throws(PostgresError) in
                    try db.pipeline([Self.insert(1), Self.insert(2)])
                    _ = try db.query("SELECT 1/0")
                }
            }
            #expect(refusal == .server("22012"))
            #expect(try await Self.count(session) == 0)
        }
    }

    @Test func `a statement whose first use failed is prepared again`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await Self.table(settings)
            let later = PostgresStatement("SELECT i FROM public.later WHERE i = $1", [.int4(1)])
            for _ in 0..<3 {
                let error = await #expect(throws: PostgresError.self) {
                    try await session.pipeline([Self.insert(1), later, Self.insert(2)])
                }
                #expect(error?.code == .server("42P01"))
                #expect(error?.statementIndex == 1)
            }
            try await session.execute("CREATE TABLE public.later (i int)")
            let results = try await session.pipeline([Self.insert(1), later, Self.insert(2)])
            #expect(results.count == 3)
        }
    }

    @Test func `large parameters and large results do not block each other`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let big = String(repeating: "x", count: 1 << 20)
            let echo = PostgresStatement("SELECT $1", [.text(big)])
            let results = try await session.pipeline(Array(repeating: echo, count: 32))
            for rows in results { #expect(try rows.single().text(0).utf8.count == 1 << 20) }
        }
    }

    @Test func `twenty thousand inserts in two windows form one transaction`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await Self.table(settings)
            try await session.transaction { db throws(PostgresError) in
                for window in 0..<2 {
                    try db.pipeline((0..<10_000).map { Self.insert(Int32(window * 10_000 + $0)) })
                }
            }
            #expect(try await Self.count(session) == 20_000)
            let refusal = await codeOf {
                _ = try await session.pipeline((0...10_000).map { Self.insert(Int32($0)) })
            }
            #expect(refusal == .misuse)
        }
    }

    @Test func `more statements than the cache holds all run, and few stay prepared`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let limit = StatementCache.statementsMax
            let many = (0..<limit * 2).map { PostgresStatement("SELECT \($0)") }
            for (number, rows) in try await session.pipeline(many).enumerated() {
                #expect(try rows.single().int8(0) == Int64(number))
            }
            for number in 0..<limit * 2 {
                let row = try await session.query("SELECT \(number) + 1").single()
                #expect(try row.int8(0) == Int64(number + 1))
            }
            let row = try await session.query("SELECT count(*) FROM pg_prepared_statements")
                .single()
            #expect(try row.int8(0) <= Int64(limit))
            #expect(try row.int8(0) > Int64(limit / 2))
        }
    }

    @Test func `a prepared statement survives changes of its table and a DISCARD ALL`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await Self.table(settings)
            let read = "SELECT * FROM public.t"
            #expect(try await session.query(read).columnCount == 1)
            try await session.execute("ALTER TABLE public.t ADD COLUMN j int")
            #expect(try await session.query(read).columnCount == 2)
            try await session.execute("DISCARD ALL")
            #expect(try await session.query(read).columnCount == 2)
        }
    }

    @Test func `a COPY in a query is refused and does not hang`() async throws {
        try await TestServer.shared.withDatabase { settings in
            for copy in ["COPY public.t TO STDOUT", "COPY public.t FROM STDIN"] {
                let session = try await PostgresSession.connect(settings)
                try await session.execute("CREATE TABLE IF NOT EXISTS public.t (i int)")
                let refusal = await codeOf { _ = try await session.query(copy) }
                #expect(refusal == .misuse)
                #expect(await session.isBroken)
            }
        }
    }
}
