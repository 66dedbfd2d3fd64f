import Foundation
import TestSupport
import Testing
import Postgres

/// The README's example, in a package that depends on the product `Subledger` and nothing else.
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
        let simulation = try await Simulation.shared
        try await TestServer.shared.withDatabase { settings in
            // The scratch folder stays, so that a second run has nothing to build but the app.
            let scratch = OneImportTests.root.appendingPathComponent(".build/one-import").path
            let ending = try await Program(path: "/usr/bin/env").run(
                ["swift", "run", "--quiet", "--scratch-path", scratch, "App"]
                    + ["\(simulation.payloads)", simulation.root],
                environment: ["DATABASE_URL": settings.fullConnectionString],
                folder: folder.path(of: "")
            )
            #expect(ending.code == 0, "\(ending.errors.suffix(3000))\n\(ending.output)")
            #expect(ending.output.contains("has access"), "\(ending.output)")
            #expect(ending.output.contains("had none: expired"), "\(ending.output)")
            #expect(ending.output.contains("the tables are what a rebuild makes"))
            #expect(ending.output.contains("the log is whole"))
        }
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
            dependencies: [.package(name: "subledger", path: "\(root.path)")],
            targets: [
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
            precondition(access.access == why.entitled.access)
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
