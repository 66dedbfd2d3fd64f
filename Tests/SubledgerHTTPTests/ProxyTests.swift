import EventLog
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import SubledgerHTTP
import TestSupport
import Testing

/// The service behind a proxy, and with many connections.
@Suite(.enabled { await TestServer.isAvailable })
struct ProxyTests {
    @Test(.enabled(if: Acceptance.isRunning, "make acceptance runs it"))
    func `behind nginx, with the configuration that serve prints, every answer is the same`()
        async throws
    {
        let printed = try await Program("subledger").run(["serve", "--print-proxy", "nginx"])
        #expect(printed.code == 0)
        let nginx = try #require(Program.installed("nginx"), "nginx is missing")
        try await TestService.run { service in
            let port = try #require(service.client.port)
            let folder = try TestFolder()
            let front = folder.path(of: "front.sock")
            let server = printed.output
                .replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
                .replacing("listen 443 ssl", with: "listen unix:\(front)")
                .replacing(#/\n +ssl_certificate.*;/#, with: "")
            let file = try folder.write(
                "nginx.conf",
                Data(
                    """
                    daemon off; pid \(folder.path(of: "pid")); error_log stderr info;
                    events {}
                    http { access_log off; \(server) }
                    """.utf8
                )
            )
            let process = try Program(path: nginx).start(
                ["-c", file, "-p", folder.path(of: ""), "-e", "stderr"]
            )
            for await line in process.errorLines where line.contains("start worker process") {
                break
            }
            try await Self.expectSameAnswers(of: service, at: front, folder)
            process.signal(SIGTERM)
            #expect(await process.ending().code == 0)
        }
    }

    @Test(.enabled(if: Acceptance.isRunning, "make acceptance runs it"))
    func `behind Caddy, with the configuration that serve prints, every answer is the same`()
        async throws
    {
        let printed = try await Program("subledger").run(["serve", "--print-proxy", "caddy"])
        #expect(printed.code == 0)
        let caddy = try #require(Program.installed("caddy"), "caddy is missing")
        try await TestService.run { service in
            let port = try #require(service.client.port)
            let folder = try TestFolder()
            let front = folder.path(of: "front.sock")
            let site = printed.output
                .replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
                .replacing("subledger.example.com {", with: "http://a {\n    bind unix/\(front)")
            let file = try folder.write(
                "Caddyfile",
                Data("{\n    admin off\n}\n\(site)".utf8)
            )
            let process = try Program(path: caddy).start(
                ["run", "--adapter", "caddyfile", "--config", file],
                environment: ["HOME": folder.path(of: "")]
            )
            for await line in process.errorLines where line.contains("serving initial config") {
                break
            }
            try await Self.expectSameAnswers(of: service, at: front, folder)
            process.signal(SIGTERM)
            #expect(await process.ending().code == 0)
        }
    }

    // What a proxy on a socket passes on, and what it refuses.
    private static func expectSameAnswers(
        of service: TestService,
        at front: String,
        _ folder: TestFolder
    ) async throws {
        let token = try await service.token(.support)
        // The body, followed by the status.
        func answer(_ arguments: String...) async throws -> String {
            let ending = try await Program(path: "/usr/bin/env").run(
                ["curl", "-s", "-w", " %{http_code}", "--unix-socket", front] + arguments
            )
            return ending.output
        }
        let notification = "http://a/v1/appstore/notifications"
        let payload = try #require(TestService.notifications(1).first)
        let body = try folder.write("body", Data(payload))
        let taken = try await answer("--data-binary", "@" + body, notification)
        #expect(taken.hasSuffix(" 200"), "\(taken)")
        #expect(try await answer("--data-binary", "x", notification).hasSuffix(" 400"))
        #expect(try await answer("http://a/v1/customers/1/access").hasSuffix(" 401"))
        let customer = "http://a/v1/customers/a%2Fb/access"
        let unknown = try await answer("-H", "Authorization: Bearer " + token, customer)
        #expect(unknown.contains("unknown-id") && unknown.contains("a/b"), "\(unknown)")
        // A client on a socket has no address that could be allowed.
        for path in internalPaths {
            let refused = try await answer("--path-as-is", "http://a" + path)
            #expect(refused.hasSuffix(" 403"), "\(path): \(refused)")
        }
    }

    /// Every form of the paths for one's own network that the service answers, and some others.
    private static let internalPaths = ["metrics", "livez", "readyz"].flatMap { name in
        ["/\(name)", "/\(name)/", "/\(name)//", "//\(name)", "/\(name)?a=b", "/%\(hex(name))"]
    }

    // With its first letter escaped.
    private static func hex(_ name: String) -> String {
        (name.utf8.first.map { String($0, radix: 16) } ?? "") + name.dropFirst()
    }

    /// The short form of both.
    @Test func `the examples deny every path that the service answers as one for its own network`()
        async throws
    {
        let nginx = try await Program("subledger").run(["serve", "--print-proxy", "nginx"]).output
        let caddy = try await Program("subledger").run(["serve", "--print-proxy", "caddy"]).output
        let location = try #require(nginx.firstMatch(of: /location ~ (\S+) \{\s+allow/)).1
        let denied = String(location)
        let paths = try #require(caddy.firstMatch(of: /@internal \{\s+path (.*)\n/)).1
            .split(separator: " ").map(String.init)
        try await TestService.run { service in
            for path in Self.internalPaths where !path.contains("%") {
                guard try await service.get(path).status != 404 else { continue }
                let plain = String(path.prefix { $0 != "?" })
                let match = try Regex(denied).firstMatch(in: plain)
                #expect(match != nil, "nginx passes \(path)")
                let isDenied = paths.contains { pattern in
                    pattern.hasSuffix("*")
                        ? plain.hasPrefix(String(pattern.dropLast())) : plain == pattern
                }
                // Caddy takes several slashes for one.
                #expect(isDenied || plain.contains("//"), "Caddy passes \(path)")
            }
        }
    }

    @Test(arguments: ["nginx", "caddy"])
    func `an example has the limits of the service, and the port that serve was given`(
        proxy: String
    ) async throws {
        let printed = try await Program("subledger").run(
            ["serve", "--print-proxy", proxy, "--port", "9090"]
        )
        #expect(printed.code == 0)
        #expect(printed.output.contains("127.0.0.1:9090"))
        #expect(!printed.output.contains("8080"))
        let limits = ServiceLimits()
        func number(_ pattern: Regex<(Substring, Substring)>) throws -> Int? {
            Int(try #require(printed.output.firstMatch(of: pattern)).1)
        }
        #expect(try number(/(?:client_max_body_size|max_size) (\d+)/) == limits.uploadByteCountMax)
        let seconds = try #require(try number(/(?:proxy_read|response_header)_timeout (\d+)s/))
        #expect(Double(seconds) > limits.answerSecondsMax)
        guard proxy == "nginx" else { return }
        // A body that does not fit is written to a file first, which takes longer than its commit.
        let buffer = try number(/client_body_buffer_size (\d+);/)
        #expect(buffer == limits.notificationByteCountMax)
        #expect(try number(/client_body_timeout (\d+)s;/) == Int(limits.bodySecondsMax))
    }

    // SUBLEDGER_IDLE_CONNECTIONS of them (400 by default), in a shell that allows 256 open files.
    @Test
    func `many idle connections do not stop the service from answering under any shell limit`()
        async throws
    {
        let variable = ProcessInfo.processInfo.environment["SUBLEDGER_IDLE_CONNECTIONS"]
        let count = variable.flatMap(Int.init) ?? 400
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let process = try await ServeProcess.start(
                settings,
                under: ["/bin/sh", "-c", "ulimit -Sn 256; exec \"$0\" \"$@\""]
            )
            let idle = try (0..<count).map { _ in try RawConnection(port: process.port) }
            #expect(await process.get("/livez") == 200)
            #expect(await process.get("/readyz") == 200)
            for connection in idle { connection.end() }
            #expect(await process.get("/livez") == 200)
            process.program.signal(SIGTERM)
            #expect(await process.program.ending().code == 0)
        }
    }
}
