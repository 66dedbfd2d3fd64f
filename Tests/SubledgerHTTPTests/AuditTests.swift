import EventLog
import Events
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Postgres
import Subledger
import Synchronization
import TestSupport
import Testing

@testable import SubledgerHTTP

/// From where, and about whom, the service was asked.
@Suite(.enabled { await TestServer.isAvailable })
struct AuditTests {
    private static let question = "/v1/customers/anna/access"

    @Test(
        arguments: [
            // The peer, what it forwards, and the client.
            ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
            ("10.1.2.3", [], "10.1.2.3"),
            ("10.1.2.3", ["198.51.100.1"], "198.51.100.1"),
            ("10.1.2.3", ["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
            ("10.1.2.3", ["1.1.1.1", "198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("10.1.2.3", ["10.4.4.4, 10.5.5.5"], "10.4.4.4"),
            ("10.1.2.3", ["198.51.100.1, unknown, 10.9.9.9"], "10.9.9.9"),
            ("::ffff:10.1.2.3", ["2001:db8::7"], "2001:db8::7"),
            ("fd00::1%eth0", ["198.51.100.1"], "198.51.100.1"),
            ("fd01::1", ["198.51.100.1"], "fd01::1"),
        ] as [(String, [String], String)]
    )
    func `only trusted proxies say who the client is`(
        peer: String,
        forwarded: [String],
        client: String
    ) throws {
        let trusted = ["10.0.0.0/8", "fd00::/16"].compactMap(AddressRange.init)
        #expect(trusted.count == 2)
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        head.headerFields[values: name] = forwarded
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        #expect(trusted.client(of: request, from: peer) == client)
        #expect([AddressRange]().client(of: request, from: peer) == peer)
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0/8", "::/129", "a", "", "/8", "10.0.0.0/8/8", "1.2.3.4/-1",
    ])
    func `a range that is none is refused`(text: String) { #expect(AddressRange(text) == nil) }

    @Test func `the client's address stands in the audit and in the refusals of tokens`()
        async throws
    {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in
            LineLogHandler(.text, level: .info) { line in lines.withLock { $0.append(line) } }
        }
        try await TestService.run(
            trustedProxies: [try #require(AddressRange("127.0.0.0/8"))],
            logger: logger
        ) { service in
            let token = try await service.token(.support)
            let ingest = try await service.token(.ingest, named: "app")
            func line(_ token: String?, _ forwarded: String?) async throws -> String {
                lines.withLock { $0.removeAll() }
                _ = try await service.get(Self.question, token: token, forwardedFor: forwarded)
                return lines.withLock { $0 }.joined(separator: "\n")
            }
            let audit = try await line(token, "198.51.100.1")
            #expect(audit.contains("audit address=198.51.100.1 "), "\(audit)")
            #expect(try await line(token, nil).contains("audit address=127.0.0.1 "))
            for (wrong, problem) in [
                (nil, "token-missing"), ("sl_test_00", "token-unknown"), (ingest, "role-missing"),
            ] {
                let refused = try await line(wrong, "198.51.100.1")
                #expect(refused.contains(" address=198.51.100.1 "), "\(refused)")
                #expect(refused.contains("problem=\(problem)"), "\(refused)")
            }
        }
    }

    @Test func `who asked about whom is stored before the answer, for as long as was set`()
        async throws
    {
        var limits = ServiceLimits()
        limits.auditDays = 30
        try await TestService.run(limits: limits) { service in
            let token = try await service.token(.support, named: "helper")
            #expect(try await service.get(Self.question, token: token).status == 404)
            let session = try await PostgresSession.connect(service.ledger.log.settings)
            let row = try await session.query(
                """
                SELECT token, address, question, subject,
                    kept_until - asked_at = interval '30 days' FROM operation.audit
                """
            ).single()
            #expect(try row.text(0) == "helper")
            #expect(try row.text(1) == "127.0.0.1")
            #expect(try row.text(2) == "access")
            #expect(try row.text(3) == "anna")
            #expect(try row.bool(4) == true)
            // One whose time is over, and one whose time is not.
            try await session.execute(
                "UPDATE operation.audit SET asked_at = asked_at - interval '31 days', "
                    + "kept_until = kept_until - interval '31 days'"
            )
            _ = try await service.get(Self.question, token: token)
            try await service.ledger.log.forgetAudits()
            let kept = try await session.query("SELECT count(*) FROM operation.audit").single()
            #expect(try kept.int8(0) == 1)
            // Without its record, a question is not answered.
            try await session.execute("ALTER TABLE operation.audit RENAME TO other")
            #expect(try await service.get(Self.question, token: token).status == 500)
            await session.close()
        }
    }
}

extension TestService {
    /// The same with what a proxy adds.
    func get(_ path: String, token: String?, forwardedFor: String?) async throws -> Answer {
        var headers = HTTPFields()
        if let token { headers[.authorization] = "Bearer \(token)" }
        if let forwardedFor, let name = HTTPField.Name("X-Forwarded-For") {
            headers[name] = forwardedFor
        }
        let response = try await client.executeRequest(
            uri: path,
            method: .get,
            headers: headers,
            body: nil
        )
        return Answer(
            status: response.status.code,
            headers: response.headers,
            body: Array(buffer: response.body)
        )
    }
}
