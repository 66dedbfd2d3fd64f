import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

/// `subledger up` as a separate process, with a private server of its own.
@Suite(.enabled { await TestServer.isAvailable })
struct UpTests {
    @Test func `up prints a link that works, and the demo fills the ledger while one looks`()
        async throws
    {
        let folder = try TestFolder()
        let home = folder.path(of: "home")
        let demo = try Up(home, "--demo", "--subscriptions", "10")
        let link = try await demo.link()
        let cookie = try await TestClient.withClient(port: link.port) {
            try await Self.cookie($0, link.path)
        }
        // An empty ledger says what to do next, until the first event is there. A connection of its
        // own for each question: on a busy machine, the service closes one before that.
        try await eventually("events arrive") {
            try await TestClient.withClient(port: link.port) {
                try await Self.page($0, cookie).contains("What the ledger learned last")
            }
        }
        // In the same folder, on a server that goes on when its first user ends.
        let empty = try Up(home)
        let other = try await empty.link()
        // A port that is taken is refused before anything is started.
        let unused = folder.path(of: "unused")
        let refused = try await Program("subledger").start(
            ["up", "--port", "\(link.port)"],
            environment: ["SUBLEDGER_HOME": unused]
        ).ending()
        #expect(refused.code == 78)
        #expect(refused.errors.contains("another program listens at 127.0.0.1, port"))
        #expect(!FileManager.default.fileExists(atPath: unused))
        // Whoever looked at something is in what it writes.
        let written = try await demo.stop()
        #expect(written.contains("newest-events"))
        #expect(written.contains("PostgreSQL goes on, because another program uses it"))
        try await TestClient.withClient(port: other.port) { client in
            let cookie = try await Self.cookie(client, other.path)
            #expect(try await Self.page(client, cookie).contains("This ledger is empty"))
        }
        #expect(try await empty.stop().contains("because it ran before this command"))
        let stopped = try await Program("subledger").start(
            ["database", "stop"],
            environment: ["SUBLEDGER_HOME": home]
        ).ending()
        #expect(stopped.code == 0, "\(stopped.errors)")
    }

    private static func cookie(_ client: TestClient, _ path: String) async throws -> String {
        let answer = try await client.get(path)
        let cookie = answer.headers[.setCookie]?.split(separator: ";").first
        return String(try #require(cookie))
    }

    private static func page(_ client: TestClient, _ cookie: String) async throws -> String {
        let answer = try await client.get("/console", headers: [.cookie: cookie])
        return answer.body.map { String(buffer: $0) } ?? ""
    }
}

/// A running `subledger up`.
private struct Up {
    private let program: RunningProgram

    init(_ home: String, _ arguments: String...) throws {
        program = try Program("subledger").start(
            ["up", "--port", "0"] + arguments,
            environment: ["SUBLEDGER_HOME": home]
        )
    }

    /// The link that it prints.
    func link() async throws -> (port: Int, path: String) {
        for await line in program.lines {
            let match = try #require(
                line.wholeMatch(
                    of: /http:\/\/127\.0\.0\.1:(\d+)(\/console\/sign-in\?code=[0-9a-f]{64})/
                )
            )
            return (try #require(Int(match.1)), String(match.2))
        }
        let ending = await program.ending()
        throw ServeProcessError(description: "up ended: \(ending.code) \(ending.errors)")
    }

    /// Ends it as Ctrl-C does, and its server with it; returns what it wrote.
    func stop() async throws -> String {
        program.signal(SIGINT)
        let ending = await program.ending()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.errors.contains("up: stopped; "))
        return ending.errors
    }
}
