import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct PoolTests {
    /// Counts how many borrowers are inside at once.
    private actor Meter {
        private var now = 0
        private(set) var most = 0

        func enter() {
            now += 1
            most = max(most, now)
        }

        func leave() { now -= 1 }
    }

    private static func backend(_ session: PostgresSession) async throws(PostgresError) -> Int64 {
        try await session.query("SELECT pg_backend_pid()").single().int8(0)
    }

    @Test func `many borrowers share few sessions`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let pool = PostgresPool(settings, sessionsMax: 2)
            let meter = Meter()
            let backends = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        try await pool.withSession { session throws(PostgresError) in
                            await meter.enter()
                            let pid = try await Self.backend(session)
                            await meter.leave()
                            return pid
                        }
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect(backends.count <= 2)
            #expect(await meter.most <= 2)
            await pool.close()
        }
    }

    @Test func `a borrower that waits too long gets an error and the pool goes on`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let pool = PostgresPool(settings, sessionsMax: 1, acquireTimeout: .milliseconds(50))
            try await pool.withSession { first throws(PostgresError) in
                let refusal = await codeOf {
                    try await pool.withSession { second throws(PostgresError) in
                        _ = try await second.query("SELECT 1")
                    }
                }
                #expect(refusal == .poolTimeout)
                _ = try await first.query("SELECT 1")
            }
            let pid = try await pool.withSession { session throws(PostgresError) in
                try await Self.backend(session)
            }
            #expect(pid > 0)
        }
    }

    @Test func `a cancelled wait ends at once`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let pool = PostgresPool(settings, sessionsMax: 1, acquireTimeout: .seconds(60))
            try await pool.withSession { _ throws(PostgresError) in
                let waiting = Task {
                    await codeOf {
                        try await pool.withSession { session throws(PostgresError) in
                            try await Self.backend(session)
                        }
                    }
                }
                waiting.cancel()
                let refusal = await waiting.value
                #expect(refusal == .cancelled)
            }
        }
    }

    @Test func `a session left in a transaction or broken is not lent again`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let pool = PostgresPool(settings, sessionsMax: 1)
            let first = try await pool.withSession { session throws(PostgresError) in
                try await session.execute("BEGIN")
                return try await Self.backend(session)
            }
            let watcher = try await PostgresSession.connect(settings)
            // The locks of the abandoned transaction must be released before the next borrower.
            try await waitUntil(
                watcher,
                "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = \(first)"
            )
            let second = try await pool.withSession { session throws(PostgresError) in
                try await Self.backend(session)
            }
            #expect(first != second)
            try await watcher.query("SELECT pg_terminate_backend($1)", [.int4(Int32(second))])
            try await waitUntil(
                watcher,
                "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = \(second)"
            )
            let third = try await pool.withSession { session throws(PostgresError) in
                try await Self.backend(session)
            }
            #expect(third != second)
        }
    }

    @Test func `a pool that cannot connect frees its places`() async throws {
        var settings = try await TestServer.shared.settings()
        settings.database = "no_such_database"
        let pool = PostgresPool(settings, sessionsMax: 1, acquireTimeout: .seconds(30))
        for _ in 0..<3 {
            let refusal = await codeOf {
                try await pool.withSession { session throws(PostgresError) in
                    try await Self.backend(session)
                }
            }
            #expect(refusal == .couldNotConnect)
        }
    }

    @Test func `a closed pool refuses borrowers and keeps no session`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let pool = PostgresPool(settings, sessionsMax: 2)
            try await pool.withSession { session throws(PostgresError) in
                _ = try await session.query("SELECT 1")
            }
            await pool.close()
            let refusal = await codeOf {
                try await pool.withSession { session throws(PostgresError) in
                    try await Self.backend(session)
                }
            }
            #expect(refusal == .closed)
            let watcher = try await PostgresSession.connect(settings)
            try await waitUntil(
                watcher,
                "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()"
            )
        }
    }
}
