import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

@testable import Postgres

/// Waits that end: at a deadline, and when a server does not even stop a statement.
@Suite(.enabled { await TestServer.isAvailable })
struct DeadlineTests {
    private static let soon = Duration.milliseconds(100)

    @Test func `a statement that exceeds its deadline is abandoned, and the server stops it`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let watcher = try await PostgresSession.connect(settings)
            let limit = DeadlineLimit()
            await session.setDeadline(Deadline(after: .seconds(3600), limit: limit))
            let task = Task { try await session.query("SELECT pg_sleep(600)") }
            try await waitUntil(
                watcher,
                "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
                    + "AND datname = current_database()"
            )
            limit.end(after: .zero)
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.code == .deadlinePassed)
            #expect(error?.isRetryable == true)
            #expect(await session.isBroken)
            await session.close()
            try await waitUntil(
                watcher,
                """
                SELECT count(*) = 0 FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """
            )
        }
    }

    @Test func `a statement that starts after its deadline changes neither data nor session`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            await session.setDeadline(Deadline(after: .zero))
            #expect(await codeOf { try await session.execute("SELECT 1") } == .deadlinePassed)
            let begin = await codeOf {
                try await session.transaction { _ throws(PostgresError) in }
            }
            #expect(begin == .deadlinePassed)
            await session.setDeadline(nil)
            #expect(try await session.query("SELECT 1").single().int8(0) == 1)
        }
    }

    /// A stopped process does not answer, but its socket stays open.
    @Test func `a stopped backend blocks a caller no longer than the deadline`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await Self.stopped(session) { _ in
                let limit = DeadlineLimit()
                await session.setDeadline(Deadline(after: .seconds(3600), limit: limit))
                async let code = codeOf {
                    try await session.transaction { db throws(PostgresError) in
                        try db.query("SELECT 1")
                    }
                }
                // The wait has begun or is about to begin; either way it ends.
                limit.end(after: Self.soon)
                #expect(await code == .deadlinePassed)
            }
            await session.close()
        }
    }

    @Test func `a stopped backend does not block a cancelled task`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await Self.stopped(session) { _ in
                let task = Task { await codeOf { _ = try await session.query("SELECT 1") } }
                task.cancel()
                let code = await task.value
                #expect(code == .deadlinePassed || code == .cancelled)
            }
            await session.close()
        }
    }

    @Test func `a stopped server blocks neither connecting nor cancelling`() async throws {
        let options = EmbeddedServer.Options(lifetime: .process, settings: ["fsync": "off"])
        let server = EmbeddedServer(home: TestServer.temporaryHome(), options: options)
        let settings = try await server.start()
        let session = try await PostgresSession.connect(settings)
        guard case .running(let postmaster) = try await server.status() else {
            Issue.record("the server does not run")
            return
        }
        kill(postmaster, SIGSTOP)
        let late = await codeOf {
            try await PostgresSession.connect(settings, by: Deadline(after: Self.soon))
        }
        #expect(late == .deadlinePassed)
        let connecting = Task { await codeOf { try await PostgresSession.connect(settings) } }
        connecting.cancel()
        #expect(await connecting.value == .cancelled)
        // The cancel request goes to the stopped server.
        await session.setDeadline(Deadline(after: Self.soon))
        let code = await codeOf { try await session.execute("SELECT pg_sleep(600)") }
        #expect(code == .deadlinePassed)
        kill(postmaster, SIGCONT)
        let again = try await PostgresSession.connect(settings)
        #expect(try await again.query("SELECT 1").single().int8(0) == 1)
        await again.close()
        try await server.stop()
    }

    @Test func `a stopped backend does not block a pool`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let pool = PostgresPool(settings, sessionsMax: 1)
            let backend = try await pool.withSession { session throws(PostgresError) in
                try await session.query("SELECT pg_backend_pid()").single().int4(0)
            }
            kill(backend, SIGSTOP)
            let code = await codeOf {
                try await pool.withSession(by: Deadline(after: Self.soon)) {
                    session throws(PostgresError) in
                    try await session.query("SELECT 1")
                }
            }
            #expect(code == .deadlinePassed)
            let next = try await pool.withSession { session throws(PostgresError) in
                try await session.query("SELECT pg_backend_pid()").single().int4(0)
            }
            #expect(next != backend)
            kill(backend, SIGCONT)
            await pool.close()
        }
    }

    private static func stopped(
        _ session: PostgresSession,
        _ body: (Int32) async throws -> Void
    ) async throws {
        let backend = try await session.query("SELECT pg_backend_pid()").single().int4(0)
        kill(backend, SIGSTOP)
        defer { kill(backend, SIGCONT) }
        try await body(backend)
    }
}
