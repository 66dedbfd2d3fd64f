import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct TransactionTests {
    private struct Refused: PostgresErrorConvertible, Equatable {
        var cause: PostgresError?

        init() {}

        init(_ error: PostgresError) { cause = error }
    }

    @Test func `the transactions of twenty callers of one session never interleave`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (caller int, step int, id serial)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<20 {
                    group.addTask {
                        try await session.transaction { db throws(PostgresError) in
                            for step in 0..<10 {
                                try db.query(
                                    "INSERT INTO public.t VALUES ($1, $2)",
                                    [.int4(Int32(caller)), .int4(Int32(step))]
                                )
                            }
                        }
                        _ = try await session.query("SELECT count(*) FROM public.t")
                    }
                }
                try await group.waitForAll()
            }
            let row = try await session.query(
                """
                SELECT count(*), count(DISTINCT xmin::text), (SELECT count(*) FROM
                  (SELECT caller FROM public.t GROUP BY caller HAVING max(id) - min(id) = 9) whole)
                FROM public.t
                """
            ).single()
            #expect(try row.int8(0) == 200)
            #expect(try row.int8(1) == 20)
            #expect(try row.int8(2) == 20)
        }
    }

    @Test func `an error in the body rolls back and is thrown unchanged`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (i int)")
            await #expect(throws: Refused()) {
                try await session.transaction { db throws(Refused) in
                    do throws(PostgresError) {
                        try db.query("INSERT INTO public.t VALUES (1)")
                    } catch {
                        throw Refused(error)
                    }
                    throw Refused()
                }
            }
            let row = try await session.query("SELECT count(*) FROM public.t").single()
            #expect(try row.int8(0) == 0)
        }
    }

    @Test func `after a failed statement that the body ignores, the commit fails`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (i int)")
            let refusal = await codeOf {
                try await session.transaction { db throws(PostgresError) in
                    try db.query("INSERT INTO public.t VALUES (1)")
                    do {
                        try db.query("SELECT 1/0")
                    } catch {
                        return
                    }
                }
            }
            #expect(refusal == .rolledBack)
            let row = try await session.query("SELECT count(*) FROM public.t").single()
            #expect(try row.int8(0) == 0)
        }
    }

    @Test func `a nested transaction is refused and the outer one continues`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (i int)")
            try await session.transaction { db throws(PostgresError) in
                do throws(PostgresError) {
                    try db.transaction { inner throws(PostgresError) in
                        try inner.query("INSERT INTO public.t VALUES (1)")
                    }
                } catch {
                    guard error.code == .misuse else { throw error }
                }
                try db.query("INSERT INTO public.t VALUES (2)")
            }
            let row = try await session.query("SELECT count(*), max(i) FROM public.t").single()
            #expect(try row.int8(0) == 1)
            #expect(try row.int8(1) == 2)
        }
    }

    @Test func `a snapshot sees nothing committed after it and cannot write`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (i int)")
            let isolation = try await session.transaction(.readOnlySnapshot) {
                db throws(PostgresError) in
                try db.query("SHOW transaction_isolation").single().text(0)
            }
            #expect(isolation == "repeatable read")
            let refusal = await codeOf {
                try await session.transaction(.readOnlySnapshot) { db throws(PostgresError) in
                    _ = try db.query("INSERT INTO public.t VALUES (1)")
                }
            }
            #expect(refusal == .server("25006"))
        }
    }

    @Test func `a serialization failure may be retried`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let first = try await PostgresSession.connect(settings)
            let second = try await PostgresSession.connect(settings)
            try await first.execute(
                "CREATE TABLE public.t (i int); INSERT INTO public.t VALUES (0)"
            )
            try await first.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM public.t")
            try await second.execute("UPDATE public.t SET i = 1")
            let error = await #expect(throws: PostgresError.self) {
                try await first.query("UPDATE public.t SET i = 2")
            }
            #expect(error?.sqlState == "40001")
            #expect(error?.isRetryable == true)
            let refusal = await codeOf {
                try await first.transaction { _ throws(PostgresError) in }
            }
            #expect(refusal == .misuse)
        }
    }
}
