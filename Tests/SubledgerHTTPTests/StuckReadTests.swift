import EventLog
import Events
import Foundation
import HTTPTypes
import HummingbirdTesting
import Postgres
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// Questions that a lock in the database holds up: they end, and delay nothing else.
@Suite(.enabled { await TestServer.isAvailable })
struct StuckReadTests {
    private let path = "/v1/appstore/notifications"

    /// Questions to the server after which something expected soon counts as missing.
    private static let triesMax = 20_000

    @Test func `a question held up by a lock is answered with 503 and stopped in the database`()
        async throws
    {
        var limits = ServiceLimits()
        limits.answerSecondsMax = 0.2
        try await withLock(limits) { service, question, token, lock in
            let answer = try await service.get(question, token: token)
            #expect(answer.status == 503)
            #expect(answer.headers[.retryAfter] == "5")
            #expect(try answer.json["code"] as? String == "answer-timeout")
            #expect(try await lock.waiting() == 0)
            let metrics = try await service.get("/metrics", token: token)
            let line = #"status="503"} 1"#
            #expect(String(decoding: metrics.body, as: UTF8.self).contains(line))
        }
    }

    @Test
    func `stuck questions delay no notification, token or readiness, and end with their client`()
        async throws
    {
        var limits = ServiceLimits()
        limits.answerSecondsMax = 0
        limits.readinessSecondsMax = 0
        try await withLock(limits) { service, question, token, lock in
            let port = try #require(service.client.port)
            let other = try await service.token(.ingest, named: "other")
            // One more than there are connections for reading.
            let stuck = try (0..<2).map { _ in try RawConnection(port: port) }
            for connection in stuck {
                connection.write(
                    "GET \(question) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n"
                )
            }
            #expect(try await lock.waiting(for: 1))
            for payload in TestService.notifications(4) {
                #expect(try await service.post(path, payload).status == 200)
            }
            #expect(try await service.post("/v1/receipts", [], token: other).status == 400)
            #expect(try await service.get("/readyz").status == 200)
            #expect(try await lock.waiting() == 1)
            for connection in stuck { connection.end() }
            #expect(try await lock.waiting(for: 0))
        }
    }

    @Test func `while the tokens cannot be read, known ones count and unknown ones get 503`()
        async throws
    {
        var limits = ServiceLimits()
        limits.tokenSecondsMax = 0
        limits.tokenReadSecondsMax = 0.2
        let limited = limits
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, limits: limited) { service in
                let token = try await service.token(.support)
                #expect(try await service.get("/metrics", token: token).status == 200)
                let lock = try await Lock(on: "operation.token", settings)
                #expect(try await service.get("/metrics", token: token).status == 200)
                let unknown = AccessToken.random(named: "unknown").text
                let answer = try await service.get("/metrics", token: unknown)
                #expect(answer.status == 503)
                #expect(try answer.json["code"] as? String == "answer-timeout")
                #expect(try await lock.waiting(for: 0))
                try await lock.end()
                #expect(try await service.get("/metrics", token: unknown).status == 401)
            }
        }
    }

    @Test func `an answer whose client stays is not ended by the end of another one`()
        async throws
    {
        try await TestService.run { service in
            let port = try #require(service.client.port)
            let token = try await service.token(.support)
            let request = "GET /metrics HTTP/1.1\r\nHost: a\r\n"
            let lasting = try RawConnection(port: port)
            for _ in 0..<3 {
                let brief = try RawConnection(port: port)
                brief.write(request + "\r\n")
                brief.end()
                lasting.write("\(request)Authorization: Bearer \(token)\r\n\r\n")
            }
            lasting.write("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let answers = await lasting.rest()
            #expect(answers.matches(of: /HTTP\/1.1 200 OK/).count == 4, "\(answers)")
            lasting.end()
        }
    }

    // A service whose questions about a subscription wait for the lock, which appends do not need.
    private func withLock(
        _ limits: ServiceLimits,
        _ body: @escaping @Sendable (TestService, String, String, Lock) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, limits: limits) { [path] service in
                for payload in TestService.notifications(1) {
                    _ = try await service.post(path, payload)
                }
                let stream = try #require(
                    try await service.ledger.log.streams(limit: 1).first?.stream
                )
                let question = "/v1/subscriptions/\(stream.originalTransactionId)/access"
                let token = try await service.token(.support)
                #expect(try await service.get(question, token: token).status == 200)
                let lock = try await Lock(on: "ledger.catalog", settings)
                try await body(service, question, token, lock)
                try await lock.end()
            }
        }
    }

    /// A lock that another session holds.
    struct Lock: Sendable {
        private let session: PostgresSession
        // A transaction sees the activity of its first look.
        private let watcher: PostgresSession

        init(
            on table: String,
            mode: String = "ACCESS EXCLUSIVE",
            _ settings: ConnectionSettings
        ) async throws {
            watcher = try await PostgresSession.connect(settings)
            session = try await PostgresSession.connect(settings)
            try await session.execute("BEGIN; LOCK TABLE \(table) IN \(mode) MODE")
        }

        /// The sessions that wait for a lock now.
        func waiting() async throws -> Int64 {
            try await watcher.query(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            ).single().int8(0)
        }

        /// Whether as many sessions wait, at once or soon.
        func waiting(for count: Int64) async throws -> Bool {
            for _ in 0..<StuckReadTests.triesMax where try await waiting() != count {
                await Task.yield()
            }
            return try await waiting() == count
        }

        func end() async throws {
            try await session.execute("ROLLBACK")
            await session.close()
            await watcher.close()
        }
    }
}
