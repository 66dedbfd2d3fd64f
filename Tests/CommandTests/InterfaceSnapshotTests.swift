#if os(Linux)
import Foundation
import TestSupport
import Testing

/// What a package that depends on the products can use, as text, so that no change goes unseen.
///
/// The compiler prints it of the modules that were built for the tests.
@Suite struct InterfaceSnapshotTests {
    /// Each name that an import brings can collide with a name of the app.
    private static let namesMax = 90

    private static let products = [
        "Subledger", "SubledgerHTTP", "SubledgerAppStore", "SubledgerTesting",
    ]

    @Test(arguments: products)
    func `the public interface is the one that was reviewed`(product: String) async throws {
        let exports = try Export.all(of: product)
        let modules = Set(exports.map(\.module) + [product]).sorted()
        var symbols: [SymbolGraph.Symbol] = []
        var relationships: [SymbolGraph.Relationship] = []
        for module in modules {
            for graph in try await SymbolGraph.read(module) {
                let isWhole = module == product || graph.isOfOtherPackage
                symbols += graph.symbols.filter { symbol in
                    isWhole || exports.contains { $0.name == symbol.pathComponents[0] }
                }
                relationships += graph.relationships
            }
        }
        let names = Set(symbols.filter { $0.pathComponents.count == 1 }.map(\.pathComponents[0]))
        #expect(names.count <= InterfaceSnapshotTests.namesMax)
        #expect(Set(exports.map(\.name)).isSubset(of: names))
        #expect(names.isDisjoint(with: InterfaceSnapshotTests.common))
        let lines = SymbolGraph.lines(of: symbols, relationships)
        try Golden.compare(
            [("import \(product)", "\(names.count) names\n\(lines.joined(separator: "\n"))")],
            with: "Goldens/interface-\(product).txt"
        )
    }

    /// Names that the packages next to it have in an app, or the app itself.
    private static let common: Set = [
        "Application", "Block", "Client", "Connection", "Content", "Environment", "Event", "Field",
        "HTML", "Kind", "Logger", "Node", "Report", "Request", "Response", "Router", "Service",
        "Session", "User",
    ]

    @Test func `what is public in a module beneath is exported by a product`() async throws {
        let exports = try InterfaceSnapshotTests.products.flatMap(Export.all)
        for module in SymbolGraph.modulesBeneath {
            let exported = Set(exports.filter { $0.module == module }.map(\.name))
            // Without extensions of other modules' types, which bring no name.
            let names = try await SymbolGraph.read(module).filter { $0.module.name == module }
                .flatMap(\.symbols).map(\.pathComponents).filter { $0.count == 1 }.map { $0[0] }
            let left = Set(names).subtracting(exported).sorted()
            #expect(left.isEmpty, "\(module): make these package, or export them")
        }
    }
}

/// A name of another module that a product exports.
private struct Export {
    let module: String
    let name: String

    static func all(of product: String) throws -> [Export] {
        let file = Program.root.appendingPathComponent("Sources/\(product)/Exports.swift")
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        let text = try String(contentsOf: file, encoding: .utf8)
        let exports = text.matches(of: #/@_exported public import \w+ (\w+)\.(\w+)\n/#)
        #expect(exports.count == text.matches(of: #/@_exported/#).count, "exports a whole module")
        return exports.map { Export(module: String($0.1), name: String($0.2)) }
    }
}

/// What `swift-symbolgraph-extract` writes, as far as it is read here.
private struct SymbolGraph: Decodable {
    struct Module: Decodable { let name: String }
    struct Identifier: Decodable { let precise: String }
    struct Fragment: Decodable { let spelling: String }
    struct Symbol: Decodable {
        let identifier: Identifier
        let pathComponents: [String]
        let declarationFragments: [Fragment]?
    }
    struct Relationship: Decodable {
        let kind: String
        let source: String
        let targetFallback: String?
    }

    let module: Module
    let symbols: [Symbol]
    let relationships: [Relationship]
    /// The module whose types it extends; nil for the module's own types.
    var extended: String?

    static let modulesBeneath = [
        "AppStore", "Catalog", "EmbeddedPostgres", "EventLog", "Events", "LedgerSchema",
        "Postgres", "Projections", "Projector",
    ]

    private enum CodingKeys: String, CodingKey { case module, symbols, relationships }

    /// Whether it is what a module adds to types of another package, such as `Array`.
    var isOfOtherPackage: Bool {
        extended.map { !SymbolGraph.modulesBeneath.contains($0) && $0 != "Subledger" } ?? false
    }

    /// The graphs of a module, and of what it adds to types of other modules.
    static func read(_ module: String) async throws -> [SymbolGraph] {
        let folder = try TestFolder()
        let ending = try await Program(path: "/usr/bin/env").run(
            [
                "swift-symbolgraph-extract", "-module-name", module, "-target", target,
                "-minimum-access-level", "public", "-output-dir", folder.path,
            ] + (try searchPaths())
        )
        try #require(ending.code == 0, "\(ending.errors.suffix(3000))")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try files.map { name in
            let data = try Data(contentsOf: URL(fileURLWithPath: folder.path(of: name)))
            let graph = try JSONDecoder().decode(SymbolGraph.self, from: data)
            let own = graph.symbols.filter { !$0.identifier.precise.contains("::SYNTHESIZED::") }
            return SymbolGraph(
                module: graph.module,
                symbols: own,
                relationships: graph.relationships,
                extended: name.firstMatch(of: #/@(\w+)\.symbols/#).map { String($0.1) }
            )
        }
    }

    #if arch(arm64)
    private static let target = "aarch64-unknown-linux-gnu"
    #else
    private static let target = "x86_64-unknown-linux-gnu"
    #endif

    // Where the modules of the build and of its C libraries are.
    private static func searchPaths() throws -> [String] {
        let files = FileManager.default
        let build = try #require(
            Program.buildFolders.first { files.fileExists(atPath: $0.path + "/Modules") }
        )
        var maps = ["CPostgres", "CSpawn", "CZlib"].map {
            Program.root.appendingPathComponent("Sources/\($0)/module.modulemap").path
        }
        let checkouts = try #require(
            [
                build.deletingLastPathComponent(),
                build.resolvingSymlinksInPath()
                    .deletingLastPathComponent().deletingLastPathComponent(),
            ]
            .map { $0.appendingPathComponent("checkouts").path }
            .first(where: files.fileExists(atPath:))
        )
        for package in try files.contentsOfDirectory(atPath: checkouts).sorted() {
            let sources = "\(checkouts)/\(package)/Sources"
            guard files.fileExists(atPath: sources) else { continue }
            for target in try files.contentsOfDirectory(atPath: sources).sorted() {
                maps.append("\(sources)/\(target)/include/module.modulemap")
            }
        }
        for target in try files.contentsOfDirectory(atPath: build.path).sorted() {
            maps.append("\(build.path)/\(target)/module.modulemap")
        }
        let found = maps.filter(files.fileExists(atPath:)).flatMap {
            ["-Xcc", "-fmodule-map-file=\($0)"]
        }
        return ["-I", build.path + "/Modules", "-Xcc", "-I/usr/include/postgresql"] + found
    }

    /// One declaration a line, in the order of their names, with what types conform to.
    static func lines(of symbols: [Symbol], _ relationships: [Relationship]) -> [String] {
        let conformances = Dictionary(
            grouping: relationships.filter { $0.kind == "conformsTo" },
            by: \.source
        )
        let implied: Set = ["Copyable", "Escapable", "SendableMetatype"]
        let lines = symbols.map { symbol in
            let words = (symbol.declarationFragments ?? []).map(\.spelling).joined()
            let protocols = Set(
                (conformances[symbol.identifier.precise] ?? []).compactMap { relationship in
                    relationship.targetFallback?.split(separator: ".").last.map(String.init)
                }
            ).subtracting(implied).sorted()
            let place = symbol.pathComponents.dropLast().joined(separator: ".")
            let line =
                (place.isEmpty ? "" : "\(place): ")
                + words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                + (protocols.isEmpty ? "" : " [\(protocols.joined(separator: ", "))]")
            return [symbol.pathComponents.joined(separator: "."), line]
        }
        return Set(lines).sorted { $0.lexicographicallyPrecedes($1) }.map { $0[1] }
    }
}
#endif
