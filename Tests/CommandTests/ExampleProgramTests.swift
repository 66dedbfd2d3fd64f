import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import TestSupport
import Testing
import Postgres

/// The examples of the README and of `LedgerRoutes` in a program that depends on the products.
///
/// `SUBLEDGER_ONE_IMPORT` has a package of its own build that program: minutes, as every dependency
/// is built again.
@Suite(.enabled { await TestServer.isAvailable })
struct ExampleProgramTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func `an app that imports Subledger alone takes payloads in and asks`() async throws {
        let example = try await ExampleProgramTests.program()
        let simulation = try await Simulation.shared
        try await TestServer.shared.withDatabase { settings in
            let environment = ["DATABASE_URL": settings.fullConnectionString]
            let ending = try await example.run(
                ["take", "\(simulation.payloads)", simulation.root],
                environment: environment
            )
            #expect(ending.code == 0, "\(ending.errors.suffix(3000))\n\(ending.output)")
            #expect(ending.output.contains("has access"), "\(ending.output)")
            #expect(ending.output.contains("had none: expired"), "\(ending.output)")
            #expect(ending.output.contains("the tables are what a rebuild makes"))
            #expect(ending.output.contains("the log is whole"))
            let service = try example.start(
                ["serve", simulation.root],
                environment: environment
            )
            try await ExampleProgramTests.check(service, simulation.payloads)
        }
    }

    @Test func `the documentation shows the lines of that program`() throws {
        let readme = try ExampleProgramTests.text("README.md")
        let after = try #require(readme.components(separatedBy: "In your own app").last)
        let taking = try ExampleProgramTests.fenced(after)
        #expect(taking.contains("func receive"))
        ExampleProgramTests.expectInOrder(
            taking,
            in: try ExampleProgramTests.text("Tests/Example/Take.swift")
        )
        let comment = try ExampleProgramTests.text("Sources/SubledgerHTTP/LedgerRoutes.swift")
            .replacing("\n/// ", with: "\n").replacing("\n///\n", with: "\n\n")
        let serving = try ExampleProgramTests.fenced(comment)
            .replacing("open(.environment)", with: "open(.environment, policy: policy)")
            .replacing(
                "Application(router: router).run",
                with: "Application(\nrouter: router,\n).run"
            )
        #expect(serving.contains("LedgerRoutes"))
        ExampleProgramTests.expectInOrder(
            serving,
            in: try ExampleProgramTests.text("Tests/Example/Serve.swift")
        )
    }

    /// SwiftPM refuses unsafe flags in a package that another one depends on.
    @Test func `only the flags that make sets are unsafe`() throws {
        let manifest = try ExampleProgramTests.text("Package.swift")
        let condition = "if Context.environment[\"SUBLEDGER_OPTIMISED\"] == \"1\" {"
        let parts = manifest.components(separatedBy: condition)
        try #require(parts.count == 2)
        let end = try #require(parts[1].range(of: "\n}\n"))
        #expect(!(parts[0] + parts[1][end.upperBound...]).contains("unsafeFlags"))
    }

    private static func program() async throws -> Program {
        guard ProcessInfo.processInfo.environment["SUBLEDGER_ONE_IMPORT"] != nil else {
            return try Program("Example")
        }
        let folder = try TestFolder()
        try folder.write("Package.swift", manifest.utf8)
        for name in ["main", "Serve", "Take"].map({ "Example/\($0).swift" }) {
            try folder.write("Sources/" + name, try text("Tests/" + name).utf8)
        }
        // The scratch folder stays, so that a second run has nothing to build but the app.
        let scratch = root.appendingPathComponent(".build/one-import").path
        let build = try await Program(path: "/usr/bin/env").run(
            ["swift", "build", "--quiet", "--scratch-path", scratch],
            folder: folder.path(of: "")
        )
        try #require(build.code == 0, "\(build.errors.suffix(3000))\n\(build.output)")
        return Program(path: scratch + "/debug/Example")
    }

    // The ledger's routes and the app's own answer side by side, until the app is asked to stop.
    private static func check(_ service: RunningProgram, _ payloads: String) async throws {
        var found: Int?
        for await line in service.errorLines {
            found = line.firstMatch(of: #/^port (\d+)$/#).flatMap { Int($0.1) }
            if found != nil { break }
        }
        let port = try #require(found)
        let files = try FileManager.default.contentsOfDirectory(atPath: payloads).sorted()
        let first = try #require(files.first { $0.hasPrefix("notification") })
        let file = try Data(contentsOf: URL(fileURLWithPath: payloads + "/" + first))
        let payload = try #require(file.split(separator: UInt8(ascii: "\n")).first)
        #expect(try await status("/v1/appstore/notifications", at: port, Data(payload)) == 200)
        #expect(try await status("/v1/appstore/notifications", at: port, Data("x".utf8)) == 400)
        #expect(try await status("/v1/customers/1/access", at: port) == 401)
        #expect(try await status("/livez", at: port) == 200)
        #expect(try await status("/hello", at: port) == 200)
        #expect(try await status("/nowhere", at: port) == 404)
        service.signal(SIGTERM)
        let ending = await service.ending()
        #expect(ending.code == 0 && !ending.wasKilled, "\(ending.errors)")
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

    // What stands between the first two fences.
    private static func fenced(_ text: String) throws -> String {
        let parts = text.components(separatedBy: "```")
        let code = try #require(parts.count > 2 ? parts[1] : nil)
        return String(try #require(code.hasPrefix("swift\n") ? code.dropFirst(6) : nil))
    }

    // Whether lines stand in a source in that order, whatever their indents and what is between.
    private static func expectInOrder(_ example: String, in source: String) {
        let trimmed = { (text: String) in
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        var rest = trimmed(source)[...]
        for line in trimmed(example) where !line.isEmpty {
            let place = rest.firstIndex(of: line)
            #expect(place != nil, "\(line)")
            if let place { rest = rest[(place + 1)...] }
        }
    }

    private static let manifest = """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "app",
            platforms: [.macOS(.v15)],
            dependencies: [
                .package(name: "subledger", path: "\(root.path)"),
                .package(
                    url: "https://github.com/hummingbird-project/hummingbird.git",
                    from: "2.28.1"
                ),
            ],
            targets: [
                .executableTarget(
                    name: "Example",
                    dependencies: [
                        .product(name: "Subledger", package: "subledger"),
                        .product(name: "SubledgerHTTP", package: "subledger"),
                        .product(name: "Hummingbird", package: "hummingbird"),
                    ]
                )
            ]
        )
        """
}
