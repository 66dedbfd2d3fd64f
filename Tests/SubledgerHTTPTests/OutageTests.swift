import EmbeddedPostgres
import EventLog
import Foundation
import HTTPTypes
import Logging
import Postgres
import Subledger
import Synchronization
import TestSupport
import Testing

@testable import SubledgerHTTP

/// What the log says about a database that is unavailable.
@Suite(.enabled { await TestServer.isAvailable })
struct OutageTests {
    @Test func `an outage is one line at its start, one a minute, and one at its end`() {
        var outage = Outage()
        let start = ContinuousClock.now
        #expect(outage.look(isAvailable: true, at: start) == nil)
        var lines: [Outage.Line] = []
        // Ten failures and one look a second, for three minutes and a half.
        for second in 0..<210 {
            let now = start + .seconds(second)
            for _ in 0..<10 { lines += [outage.fail(at: now)].compactMap { $0 } }
            // The look finds the database, but requests still fail: a lock, a full disk.
            let isAvailable = second.isMultiple(of: 7)
            lines += [outage.look(isAvailable: isAvailable, at: now)].compactMap { $0 }
        }
        #expect(
            lines == [
                .began, .lasts(seconds: 60, failures: 610), .lasts(seconds: 120, failures: 1210),
                .lasts(seconds: 180, failures: 1810),
            ]
        )
        let end = start + .seconds(211)
        #expect(outage.look(isAvailable: false, at: end) == nil)
        #expect(
            outage.look(isAvailable: true, at: end) == .ended(seconds: 211, failures: 2100)
        )
        #expect(outage.look(isAvailable: true, at: end) == nil)
        #expect(outage.fail(at: end) == .began)
    }

    @Test func `an outage takes two lines of the log, however many requests fail in it`()
        async throws
    {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { label in
            LineLogHandler(.json, label: label, level: .info) { line in
                lines.withLock { $0.append(line) }
            }
        }
        var limits = ServiceLimits()
        limits.outageSeconds = 0.01
        try await TestService.run(on: settings, limits: limits, logger: logger) { service in
            let token = try await service.token(.support)
            let question = "/v1/customers/anna/access"
            #expect(try await service.get(question, token: token).status == 404)
            // The use of the token may be recorded at any time, also while the server stops.
            lines.withLock { $0.removeAll() }
            try await server.stop()
            for _ in 0..<50 {
                #expect(try await service.get(question, token: token).status == 503)
            }
            #expect(try await service.get("/metrics", token: token).status == 200)
            // Who asked stands in the audit in any case.
            let during = lines.withLock { $0 }.filter { line in
                !line.contains("/metrics") && !line.contains(#""message":"audit""#)
            }
            #expect(during.count == 1, "\(during)")
            #expect(during.first?.contains(#""message":"the database is unavailable""#) == true)
            #expect(during.first?.contains("database-unavailable") == true)
            _ = try await server.start()
            try await eventually("the end of the outage is logged") {
                lines.withLock { $0 }.contains { $0.contains("the database is available again") }
            }
            let ended = lines.withLock { $0 }.filter { $0.contains("available again") }
            // Those, and what the metrics could not read.
            let failures = try #require(ended.first?.firstMatch(of: /"failures":"(\d+)"/)).1
            #expect((Int(failures) ?? 0) > 50, "\(ended)")
            #expect(try await service.get(question, token: token).status == 404)
        }
        try await server.stop()
    }

    @Test func `with a log in JSON, every line of a start is JSON`() async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let program = try Program("subledger").start(
                ["serve", "--port", "0", "--log-format", "json"],
                environment: ["DATABASE_URL": settings.fullConnectionString]
            )
            for await line in program.errorLines where line.contains("listening at http://") {
                break
            }
            program.signal(SIGTERM)
            let ending = await program.ending()
            #expect(ending.code == 0)
            try Self.expectJSON(ending.errors)
        }
        let refused = try await Program("subledger").run(
            [
                "serve", "--port", "0", "--log-format", "json", "--tls-certificate", "/nowhere",
                "--tls-key", "/nowhere",
            ]
        )
        #expect(refused.code == 78)
        try Self.expectJSON(refused.errors)
        #expect(refused.errors.contains(#""level":"critical""#), "\(refused.errors)")
    }

    private static func expectJSON(_ errors: String) throws {
        let lines = errors.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            #expect((object as? [String: Any])?["message"] is String, "\(line)")
        }
    }
}
