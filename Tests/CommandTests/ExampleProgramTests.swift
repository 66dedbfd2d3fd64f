import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import TestSupport
import Testing
import Postgres

/// The app that the articles quote, as a program; its own tests are `AppTests`.
///
/// `SUBLEDGER_ONE_IMPORT` has a package of its own build that program and run its tests: minutes, as
/// every dependency is built again.
@Suite(.enabled { await TestServer.isAvailable })
struct ExampleProgramTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func `the app begins with an empty database, serves, and ends when it is asked to`()
        async throws
    {
        let app = try await Self.program()
        try await TestServer.shared.withDatabase { settings in
            let service = try app.start(
                [],
                environment: ["DATABASE_URL": settings.fullConnectionString, "PORT": "0"]
            )
            try await Self.check(service)
            try await eventually("the app has built its tables") {
                try await settings.number(
                    "SELECT count(*) FROM pg_class WHERE oid = to_regclass('projection.trials')"
                ) == 1
            }
            service.signal(SIGTERM)
            let ending = await service.ending()
            #expect(ending.code == 0 && !ending.wasKilled, "\(ending.errors)")
        }
    }

    @Test(arguments: [
        "Sources/Subledger/Subledger.docc/Embedding.md",
        "Sources/Subledger/Subledger.docc/AProjectionOfYourOwn.md",
    ])
    func `the articles show the lines of that app`(article: String) throws {
        var quotes = 0
        for fence in try Self.fences(in: Self.text(article)) {
            guard let name = fence.firstMatch(of: #/^// (\S+\.swift)\n/#)?.1 else { continue }
            let code = fence.drop { !$0.isNewline }
            Self.expectInOrder(code, in: try Self.text("Tests/Example/" + name), String(name))
            quotes += 1
        }
        #expect(quotes >= (article.hasSuffix("Embedding.md") ? 5 : 2))
    }

    @Test func `the README and the service's comment show lines of that app`() throws {
        let app = "Tests/Example/Sources/App/"
        let program = try ["App", "CustomerRoutes"].map { try Self.text(app + $0 + ".swift") }
            .joined()
        let readme = try Self.text("README.md").components(separatedBy: "In your own app")
        let taking = try #require(Self.fences(in: readme[1]).first)
        #expect(taking.contains("ledger.ingest"))
        Self.expectInOrder(taking, in: program, "README.md")
        let comment = try Self.text("Sources/SubledgerHTTP/LedgerRoutes.swift")
            .replacing("\n/// ", with: "\n").replacing("\n///\n", with: "\n\n")
        let serving = try #require(Self.fences(in: comment).first)
        #expect(serving.contains("LedgerRoutes"))
        Self.expectInOrder(serving, in: program, "LedgerRoutes.swift")
    }

    /// SwiftPM refuses unsafe flags in a package that another one depends on.
    @Test func `only the flags that make sets are unsafe`() throws {
        let manifest = try Self.text("Package.swift")
        let condition = "if Context.environment[\"SUBLEDGER_OPTIMISED\"] == \"1\" {"
        let parts = manifest.components(separatedBy: condition)
        try #require(parts.count == 2)
        let end = try #require(parts[1].range(of: "\n}\n"))
        #expect(!(parts[0] + parts[1][end.upperBound...]).contains("unsafeFlags"))
    }

    private static func program() async throws -> Program {
        guard ProcessInfo.processInfo.environment["SUBLEDGER_ONE_IMPORT"] != nil else {
            return try Program("App")
        }
        // The scratch folder stays, so that a second run has nothing to build but the app.
        let scratch = root.appendingPathComponent(".build/one-import").path
        let tests = try await Program(path: "/usr/bin/env").run(
            [
                "swift", "test", "--disable-xctest", "--enable-swift-testing",
                "--scratch-path", scratch,
            ],
            folder: root.appendingPathComponent("Tests/Example").path
        )
        let hasPassed = tests.output.contains(#/Test run with [1-9].* passed/#)
        try #require(
            tests.code == 0 && hasPassed,
            "\(tests.errors.suffix(3000))\n\(tests.output.suffix(3000))"
        )
        return Program(path: scratch + "/debug/App")
    }

    // The ledger's routes and the app's own answer side by side.
    private static func check(_ service: RunningProgram) async throws {
        var found: Int?
        for await line in service.errorLines {
            found = line.firstMatch(of: #/listening on 127\.0\.0\.1:(\d+)/#).flatMap { Int($0.1) }
            if found != nil { break }
        }
        let port = try #require(found)
        let forged = Data("x".utf8)
        #expect(try await status("/v1/appstore/notifications", at: port, forged) == 400)
        #expect(try await status("/v1/customers/1/access", at: port) == 401)
        #expect(try await status("/livez", at: port) == 200)
        #expect(try await status("/customers/\(UUID())/access", at: port) == 200)
        #expect(try await status("/customers/\(UUID())/purchases", at: port, forged) == 400)
        #expect(try await status("/nowhere", at: port) == 404)
    }

    private static func status(
        _ path: String,
        at port: Int,
        _ body: Data? = nil
    ) async throws
        -> Int
    {
        var request = URLRequest(
            url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        )
        request.httpMethod = body == nil ? "GET" : "POST"
        request.httpBody = body
        let (_, response) = try await URLSession.shared.data(for: request)
        return try #require(response as? HTTPURLResponse).statusCode
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    // The Swift code between fences.
    private static func fences(in text: String) -> [String] {
        text.components(separatedBy: "\n```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    // Whether lines stand in a source in that order, whatever their indents and what is between.
    private static func expectInOrder(
        _ quote: some StringProtocol,
        in source: String,
        _ name: String
    ) {
        func trimmed(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        var rest = trimmed(source)[...]
        for line in trimmed(quote) where !line.isEmpty && line != "…" {
            let place = rest.firstIndex(of: line)
            #expect(place != nil, "\(name): \(line)")
            if let place { rest = rest[(place + 1)...] }
        }
    }
}
