import Foundation
import HTTPTypes
import HummingbirdTesting
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// Faults of clients are answered as such, and counted apart from faults of the service.
@Suite(.enabled { await TestServer.isAvailable })
struct MalformedRequestTests {
    private static let path = "/v1/appstore/notifications"
    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n"

    /// A request, and the status of its answer; nil if the connection ends without one.
    private static let requests: [(String, Int)] = [
        (chunked + "ZZ\r\n{}\r\n0\r\n\r\n", 400), (chunked + "2\r\n{}ZZ\r\n", 400),
        (chunked + "FFFFFFFFFFFFFFFFF\r\n{}", 400), (chunked + "-2\r\n{}", 400),
        // The whole of a notification's form, but not the whole of the body.
        ("Content-Length: 99\r\n\r\n{\"signedPayload\": \"a\"}", 400),
        (chunked + "16\r\n{\"signedPayload\": \"a\"}\r\n", 400), ("Content-Length: 1\r\n\r\n", 400),
        ("Content-Length: 9223372036854775808\r\n\r\n{}", 413),
        ("Content-Length: 99999999999999999999999\r\n\r\n{}", 400),
        ("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
    ]

    @Test func `a request that is not valid HTTP is a fault of its client`() async throws {
        try await TestService.run { service in
            let port = try #require(service.client.port)
            for (rest, status) in Self.requests {
                let connection = try RawConnection(port: port)
                connection.write("POST \(Self.path) HTTP/1.1\r\nHost: a\r\n\(rest)")
                connection.endWriting()
                let line = await connection.firstLine()
                #expect(line.hasPrefix("HTTP/1.1 \(status) "), "\(rest): \(line)")
                connection.end()
            }
            let text = try await Self.metrics(of: service)
            let faults = text.split(separator: "\n").filter {
                $0.contains(#"status="5"#) && !$0.hasSuffix(" 0") && !$0.hasSuffix(" 0.0")
            }
            #expect(faults == [])
            #expect(!text.contains(#"subledger_client_faults_total{fault="malformed"} 0"#))
            #expect(text.contains(#"subledger_client_faults_total{fault="slow-head"} 0"#))
            #expect(try await service.ledger.rejections().count == 0)
        }
    }

    // Otherwise what has arrived of the body stays in memory until the client closes.
    @Test func `a last request that is answered before the end of its body ends the connection`()
        async throws
    {
        try await TestService.run { service in
            let connection = try RawConnection(port: try #require(service.client.port))
            connection.write(
                "POST /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                    + "Content-Length: 1000000\r\n\r\n{"
            )
            #expect(await connection.firstLine() == "HTTP/1.1 404 Not Found")
            try await eventually("the service closes the connection") { !connection.write("a") }
            connection.end()
        }
    }

    @Test func `header fields that arrive too slowly end the connection`() async throws {
        var limits = ServiceLimits()
        limits.headSecondsMax = 0.2
        try await TestService.run(limits: limits) { service in
            let port = try #require(service.client.port)
            let slow = try RawConnection(port: port)
            slow.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\nHo")
            #expect(await slow.firstLine() == "HTTP/1.1 200 OK")
            slow.write("st: a")
            let rest = await slow.rest()
            #expect(rest.contains("HTTP/1.1 408 Request Timeout"), "\(rest)")
            slow.end()
            let text = try await Self.metrics(of: service)
            #expect(text.contains(#"subledger_client_faults_total{fault="slow-head"} 1"#))
        }
    }

    private static func metrics(of service: TestService) async throws -> String {
        let token = try await service.token(.support)
        let answer = try await service.get("/metrics", token: token)
        return String(decoding: answer.body, as: UTF8.self)
    }
}
