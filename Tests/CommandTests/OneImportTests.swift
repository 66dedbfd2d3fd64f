import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import TestSupport
import Testing
import Postgres

/// The examples of the README and of `LedgerRoutes`, in a package that depends on the products.
@Suite(
    .enabled("builds every dependency again: minutes, so only in CI and where it is asked for") {
        let environment = ProcessInfo.processInfo.environment
        let isAsked = environment["CI"] != nil || environment["SUBLEDGER_ONE_IMPORT"] != nil
        return await TestServer.isAvailable && isAsked
    }
)
struct OneImportTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func `an app that imports Subledger alone takes payloads in and asks`() async throws {
        let folder = try TestFolder()
        try OneImportTests.write(OneImportTests.manifest, to: folder, "Package.swift")
        try OneImportTests.write(
            try OneImportTests.example() + OneImportTests.rest,
            to: folder,
            "Sources/App/main.swift"
        )
        try OneImportTests.write(
            try OneImportTests.service(),
            to: folder,
            "Sources/Service/main.swift"
        )
        let simulation = try await Simulation.shared
        try await TestServer.shared.withDatabase { settings in
            // The scratch folder stays, so that a second run has nothing to build but the app.
            let scratch = OneImportTests.root.appendingPathComponent(".build/one-import").path
            let build = try await Program(path: "/usr/bin/env").run(
                ["swift", "build", "--quiet", "--scratch-path", scratch],
                folder: folder.path(of: "")
            )
            #expect(build.code == 0, "\(build.errors.suffix(3000))\n\(build.output)")
            let environment = ["DATABASE_URL": settings.fullConnectionString]
            let ending = try await Program(path: scratch + "/debug/App").run(
                ["\(simulation.payloads)", simulation.root],
                environment: environment
            )
            #expect(ending.code == 0, "\(ending.errors.suffix(3000))\n\(ending.output)")
            #expect(ending.output.contains("has access"), "\(ending.output)")
            #expect(ending.output.contains("had none: expired"), "\(ending.output)")
            #expect(ending.output.contains("the tables are what a rebuild makes"))
            #expect(ending.output.contains("the log is whole"))
            let service = try Program(path: scratch + "/debug/Service").start(
                [simulation.root],
                environment: environment
            )
            try await OneImportTests.check(service, simulation.payloads)
        }
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

    // The lines in the comment of `LedgerRoutes`, with a route of the app's, the simulation's root
    // and any free port.
    private static func service() throws -> String {
        let source = try String(
            contentsOf: root.appendingPathComponent("Sources/HTTPService/LedgerRoutes.swift"),
            encoding: .utf8
        )
        let parts = source.components(separatedBy: "/// ```")
        var code = try #require(parts.count > 2 ? parts[1] : nil)
            .replacing("\n/// ", with: "\n").replacing("\n///\n", with: "\n\n")
        #expect(code.hasPrefix("swift\n"))
        code = String(code.dropFirst(6))
        for (line, replacement) in [
            (
                "let ledger = try await Ledger.open(.environment)",
                """
                var policy = VerificationPolicy()
                let root = FileManager.default.contents(atPath: CommandLine.arguments[1])!
                policy.roots += try RootCertificate.read([UInt8](root))
                let ledger = try await Ledger.open(.environment, policy: policy)
                """
            ),
            (
                "try await Application(router: router)",
                """
                router.get("hello") { _, _ in "hello" }
                try await Application(
                    router: router,
                    configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                    onServerRunning: { channel in
                        let port = channel.localAddress!.port!
                        FileHandle.standardError.write(Data("port \\(port)\\n".utf8))
                    }
                )
                """
            ),
        ] {
            #expect(code.contains(line), "\(line)")
            code = code.replacing(line, with: replacement)
        }
        return "import Foundation\nimport NIOCore\n" + code
    }

    // What stands between the fences below "In your own app".
    private static func example() throws -> String {
        let readme = try String(
            contentsOf: root.appendingPathComponent("README.md"),
            encoding: .utf8
        )
        let after = try #require(readme.components(separatedBy: "In your own app").last)
        let parts = after.components(separatedBy: "```")
        let code = try #require(parts.count > 2 ? parts[1] : nil)
        return String(try #require(code.hasPrefix("swift\n") ? code.dropFirst(6) : nil))
    }

    private static func write(_ text: String, to folder: TestFolder, _ name: String) throws {
        let url = URL(fileURLWithPath: folder.path(of: name))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: url)
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
                    name: "Service",
                    dependencies: [
                        .product(name: "Subledger", package: "subledger"),
                        .product(name: "SubledgerHTTP", package: "subledger"),
                        .product(name: "Hummingbird", package: "hummingbird"),
                    ]
                ),
                .executableTarget(
                    name: "App",
                    dependencies: [.product(name: "Subledger", package: "subledger")]
                )
            ]
        )
        """

    /// Calls the example, and what it leaves out.
    private static let rest = """

        import Foundation

        let (payloads, root) = (CommandLine.arguments[1], CommandLine.arguments[2])
        var policy = VerificationPolicy()
        policy.roots += try RootCertificate.read([UInt8](FileManager.default.contents(atPath: root)!))
        try await Ledger.migrate(.environment)
        let ledger = try await Ledger.open(.environment, policy: policy)
        var ids: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: payloads).sorted()
        where name.hasSuffix(".ndjson") {
            let file = FileManager.default.contents(atPath: payloads + "/" + name)!
            for line in file.split(separator: 10) {
                ids.formUnion(try await receive([UInt8](line), ledger))
            }
        }
        for id in ids.sorted() {
            let access = try await ledger.access(of: SubjectID(id), at: .systemClock())
            let why = try await ledger.explain(SubjectID(id), at: .systemClock())
            precondition(access.access == why.entitled.access.value)
            print(id, access.access ? "has access" : "had none: \\(why.entitled.reason.value ?? "")")
            let periods = try await ledger.periods(of: SubjectID(id))
            let history = try await ledger.history(of: SubjectID(id))
            precondition(periods.originalTransactionId == id && !history.events.isEmpty)
            _ = try await ledger.refunds(of: SubjectID(id))
            _ = try await ledger.changes(of: SubjectID(id))
            _ = try await ledger.state(of: SubjectID(id))
            _ = try await ledger.eligibility(of: SubjectID(id), at: .systemClock())
            let json = try JSONEncoder().encode(why)
            let decoded = try JSONDecoder().decode(ExplanationDocument.self, from: json)
            precondition(decoded == why)
        }
        _ = try await ledger.projector.rebuild(nil)
        if try await ledger.projector.compare(then: .drop, catalog: .ofLive).isClean {
            print("the tables are what a rebuild makes")
        }
        if try await ledger.log.verify().isOK { print("the log is whole") }
        await ledger.close()

        """
}
