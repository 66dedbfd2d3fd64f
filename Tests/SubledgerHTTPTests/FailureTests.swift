import AppStoreSimulator
import EmbeddedPostgres
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

/// Every payload answered with 200 is in the log, whatever fails.
@Suite(.enabled { await TestServer.isAvailable })
struct FailureTests {
    private let path = "/v1/appstore/notifications"

    /// The number of requests after which something expected soon counts as missing.
    private static let triesMax = 2000

    @Test
    func `without the database the answer is 503, and a payload sent again later is accepted`()
        async throws
    {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        let payloads = TestService.notifications(2)
        var options = EventLog.Options()
        // Longer than an append takes on a loaded machine; the refusal waits as long.
        options.appendSecondsMax = 10
        try await TestService.run(on: settings, options) { service in
            let first = try #require(payloads.first)
            #expect(try await service.post(path, first).status == 200)
            let token = try await service.token(.support)
            #expect(try await service.get("/metrics", token: token).status == 200)
            try await server.stop()
            let refused = try await service.post(path, payloads[1])
            #expect(refused.status == 503)
            #expect(refused.headers[.retryAfter] == "5")
            #expect(try refused.json["code"] as? String == "database-unavailable")
            let question = "/v1/customers/anna/eligibility"
            #expect(try await service.get(question, token: token).status == 503)
            #expect(try await service.get("/readyz").status == 503)
            // The metrics that report the database as unavailable.
            let metrics = try await service.get("/metrics", token: token)
            #expect(metrics.status == 200)
            #expect(
                String(decoding: metrics.body, as: UTF8.self).contains("subledger_database_up 0")
            )
            #expect(try await service.get("/livez").status == 200)
            _ = try await server.start()
            #expect(try await service.post(path, payloads[1]).status == 200)
            #expect(try await service.get("/readyz").status == 200)
            #expect(try await service.get(question, token: token).status == 200)
        }
        try await server.stop()
    }

    @Test func `a body that arrives too slowly is refused with 408`() async throws {
        var limits = ServiceLimits()
        limits.bodySecondsMax = 0.2
        try await TestService.run(limits: limits) { service in
            let port = try #require(service.client.port)
            let slow = try RawConnection(port: port)
            slow.write("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
            let line = await slow.firstLine()
            #expect(line == "HTTP/1.1 408 Request Timeout")
            slow.end()
            #expect(try await service.get("/livez").status == 200)
        }
    }

    @Test
    func `a body above the limit on concurrent bodies is refused with 503 until another ends`()
        async throws
    {
        var limits = ServiceLimits()
        limits.uploadsMax = 0
        try await TestService.run(limits: limits) { service in
            let busy = try await service.post(path, Array("{}".utf8))
            #expect(busy.status == 503)
            #expect(busy.headers[.retryAfter] == "1")
            #expect(try busy.json["code"] as? String == "busy")
        }
        limits.uploadsMax = 1
        try await TestService.run(limits: limits) { service in
            for _ in 0..<3 {
                let answer = try await service.post(path, Array("{}".utf8))
                #expect(answer.status == 400)
            }
        }
    }

    @Test func `malformed requests are refused and the service continues`() async throws {
        try await TestService.run { service in
            let port = try #require(service.client.port)
            let flood = (0..<200).map { "X-\($0): \($0)\r\n" }.joined()
            for (request, expected) in [
                ("NONSENSE\r\n\r\n", ["HTTP/1.1 400 Bad Request", ""]),
                ("GET /livez HTTP/1.1\r\n\(flood)\r\n", ["HTTP/1.1 400 Bad Request", ""]),
                (
                    "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                    [
                        "HTTP/1.1 400 Bad Request", "",
                    ]
                ),
            ] {
                let connection = try RawConnection(port: port)
                connection.write(request)
                let line = await connection.firstLine()
                #expect(expected.contains(line), "\(request.prefix(40)): \(line)")
                connection.end()
            }
            let token = try await service.token(.support)
            for id in ["%3Cscript%3E", "..%2F..%2Fetc", "%00", "%FF", "a%0d%0aX-A:%201"] {
                let answer = try await service.get("/v1/customers/\(id)/access", token: token)
                let code = try answer.json["code"] as? String ?? ""
                #expect(["path", "empty-ledger"].contains(code), "\(id) \(code)")
                #expect(answer.headers[.contentType] == "application/problem+json")
            }
            #expect(try await service.get("/livez").status == 200)
        }
    }

    @Test func `a service asked to stop finishes the requests under way and exits with 0`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            // Long enough for the questions below on a machine that runs all tests at once.
            let process = try await ServeProcess.start(settings, "--drain-seconds", "20")
            let slow = try RawConnection(port: process.port)
            let body = "{}"
            slow.write(
                "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                    + "Content-Length: \(body.count)\r\n\r\n{"
            )
            process.program.signal(SIGTERM)
            var ready = await process.get("/readyz")
            for _ in 0..<Self.triesMax where ready == 200 { ready = await process.get("/readyz") }
            #expect(ready == 503)
            #expect(await process.get("/livez") == 200)
            slow.write("}")
            let line = await slow.firstLine()
            #expect(line == "HTTP/1.1 400 Bad Request")
            slow.end()
            let ending = await process.program.ending()
            #expect(ending.code == 0 && !ending.wasKilled, "\(ending.errors)")
        }
    }

    @Test func `a service killed under load has every payload answered with 200 in the log, once`()
        async throws
    {
        let kills =
            ProcessInfo.processInfo.environment["SUBLEDGER_SERVE_KILLS"].flatMap(Int.init) ?? 3
        let payloads = TestService.notifications(40)
        try await TestServer.shared.withDatabase(from: .served) { settings in
            var acknowledged: Set<Int> = []
            var next = 0
            for kill in 0..<kills {
                let process = try await ServeProcess.start(settings, "--log-level", "error")
                let from = next
                let taken = await withTaskGroup(of: [Int].self) { group in
                    for worker in 0..<4 {
                        group.addTask {
                            var taken: [Int] = []
                            var index = from + worker
                            while index < from + 12 + kill % 5 {
                                // The first answers arrive before the kill, the last ones after it.
                                if worker == 0, index >= from + 4 {
                                    process.program.signal(SIGKILL)
                                }
                                let payload = payloads[index % payloads.count]
                                guard await process.post(payload, to: path) == 200 else {
                                    return taken
                                }
                                taken.append(index % payloads.count)
                                index += 4
                            }
                            return taken
                        }
                    }
                    return await group.reduce(into: []) { $0 += $1 }
                }
                process.program.signal(SIGKILL)
                _ = await process.program.ending()
                acknowledged.formUnion(taken)
                next += 12
            }
            #expect(!acknowledged.isEmpty)
            let ledger = Ledger(
                log: try await EventLog.open(settings),
                verifier: try TestService.simulator.verifier()
            )
            let before = try await ledger.log.heads().mapValues(\.offset)
            for index in acknowledged {
                let again = try await ledger.ingest(payloads[index], source: "again")
                #expect(again.outcomes.allSatisfy { !$0.isNew }, "payload \(index)")
            }
            #expect(try await ledger.log.heads().mapValues(\.offset) == before)
            #expect(try await ledger.log.verify().isOK)
            await ledger.close()
        }
    }
}
