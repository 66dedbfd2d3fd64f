import EventLog
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

/// `subledger serve --console`.
@Suite(.enabled { await TestServer.isAvailable })
struct ServedConsoleTests {
    @Test func `serve has a console where it was asked for, and a token signs in`() async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let log = try await EventLog.open(settings)
            let token = AccessToken.random(named: "desk")
            _ = try await log.add(token, [.support])
            await log.close()
            for (arguments, isSecure) in [(["--console"], false), (Self.behindProxy, true)] {
                let service = try await ServeProcess.start(settings, arguments)
                #expect(await service.get("/console") == 401)
                let cookie = try #require(try await Self.signIn(token.text, at: service.port))
                #expect(cookie.contains("; Secure") == isSecure, "\(cookie)")
                let session = String(cookie.prefix { $0 != ";" })
                #expect(try await Self.page(session, at: service.port).contains("ledger is empty"))
                service.program.signal(SIGTERM)
                #expect(await service.program.ending().code == 0)
            }
            let without = try await ServeProcess.start(settings)
            #expect(await without.get("/console") == 404)
            without.program.signal(SIGTERM)
            _ = await without.program.ending()
        }
    }

    private static let behindProxy = ["--console", "--trusted-proxy", "127.0.0.1"]

    private static func signIn(_ token: String, at port: Int) async throws -> String? {
        try await TestClient.withClient(port: port) { client in
            try await client.execute(
                TestClient.Request(
                    "/console/sign-in",
                    method: .post,
                    body: ByteBuffer(string: "token=\(token)")
                )
            ).head.headerFields[.setCookie]
        }
    }

    private static func page(_ session: String, at port: Int) async throws -> String {
        try await TestClient.withClient(port: port) { client in
            let request = TestClient.Request("/console", method: .get, headers: [.cookie: session])
            return String(buffer: try await client.execute(request).body ?? ByteBuffer())
        }
    }
}
