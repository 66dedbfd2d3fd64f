import EventLog
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
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
        let nginx = try #require(Self.nginx(), "nginx is missing")
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
            #expect(try await answer("http://a/metrics").hasSuffix(" 403"))
            process.signal(SIGTERM)
            #expect(await process.ending().code == 0)
        }
    }

    @Test func `the example for Caddy uses the same limits`() async throws {
        let port = ["--port", "9090"]
        let printed = try await Program("subledger").run(
            ["serve", "--print-proxy", "caddy"] + port
        )
        #expect(printed.code == 0)
        #expect(printed.output.contains("reverse_proxy 127.0.0.1:9090"))
        let nginx = try await Program("subledger").run(["serve", "--print-proxy", "nginx"])
        let size = #/(?:max_size|client_max_body_size) (\d+)/#
        let found = try [printed, nginx].map { try #require($0.output.firstMatch(of: size)).1 }
        #expect(found[0] == found[1])
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

    private static func nginx() -> String? {
        ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
            .first(where: FileManager.default.isExecutableFile)
    }
}
