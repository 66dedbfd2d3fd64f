import Foundation
import Testing

/// Rules about the sources that no compiler checks.
@Suite struct TidyTests {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The longest file: one idea fits into it.
    private static let fileLinesMax = 400

    /// The longest function: it can be seen as a whole.
    private static let functionLinesMax = 60

    /// The most sources in one folder: a reader finds one among their names.
    private static let folderFilesMax = 30

    /// The files in some folders with one of these endings, and their text.
    static func files(
        in folders: [String],
        ending: String = ".swift"
    ) throws -> [(path: String, text: String)] {
        var found: [(String, String)] = []
        for folder in folders {
            let start = root.appendingPathComponent(folder)
            let walk = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil)
            while let url = walk?.nextObject() as? URL {
                guard url.path.hasSuffix(ending) else { continue }
                let path = String(url.path.dropFirst(root.path.count + 1))
                found.append((path, try String(contentsOf: url, encoding: .utf8)))
            }
        }
        #expect(!found.isEmpty, "no file was found below \(root.path)")
        return found.sorted { $0.0 < $1.0 }
    }

    private static let everywhere = ["Sources", "Tests", "Projections", "schema"]
    private static let product = ["Sources", "Projections", "schema"]

    @Test func `no file is longer than one idea`() throws {
        for (path, text) in try TidyTests.files(in: TidyTests.everywhere) {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
            #expect(lines <= TidyTests.fileLinesMax, "\(path) has \(lines) lines")
        }
    }

    @Test func `no function is too long to be seen as a whole`() throws {
        for (path, text) in try TidyTests.files(in: TidyTests.everywhere) {
            for function in FunctionLengths(text).lengths {
                #expect(
                    function.lines <= TidyTests.functionLinesMax,
                    "\(path): \(function.head) has \(function.lines) lines"
                )
            }
        }
    }

    @Test func `no folder of the product has more sources than a reader can survey`() throws {
        let files = try TidyTests.files(in: TidyTests.product)
        let folders = Dictionary(grouping: files) {
            $0.path.split(separator: "/").dropLast().joined(separator: "/")
        }
        for (folder, files) in folders {
            #expect(files.count <= TidyTests.folderFilesMax, "\(folder) has \(files.count) files")
        }
    }

    @Test func `a question's command and routes are named in its file only`() throws {
        let files = try TidyTests.files(
            in: ["Sources/Subledger", "Sources/SubledgerCommand", "Sources/SubledgerHTTP"]
        )
        let folder = "Sources/Subledger/Questions/"
        let names = files.filter { $0.path.hasPrefix(folder) }.compactMap { file in
            file.text.firstMatch(of: /static let name = "(\w+)"/).map { String($0.1) }
        }
        #expect(names.count >= 9)
        for (path, text) in files where !path.hasPrefix(folder) {
            for name in names {
                #expect(
                    !text.contains("commandName: \"\(name)\"") && !text.contains("/\(name)\""),
                    "\(path) names the question \(name)"
                )
            }
        }
    }

    @Test func `only verifiers make verified values`() throws {
        for (path, text) in try TidyTests.files(in: ["Sources", "Projections"]) {
            guard !path.hasPrefix("Sources/AppStore/"), path != "Sources/Events/Evidence.swift"
            else { continue }
            #expect(!text.contains("Verified("), "\(path) makes a Verified value")
        }
    }

    @Test
    func `modules that reach outside are imported only where the arrows allow it`()
        throws
    {
        let allowed = [
            "CPostgres": ["Sources/Postgres/"],
            "CSpawn": ["Sources/EmbeddedPostgres/"],
            "CZlib": [
                "Sources/AppStore/Logs/GzipReader.swift", "Sources/EventLog/Evidence/Deflate.swift",
                "Sources/Events/Bytes/ZlibStream.swift",
                "Sources/Subledger/Export/GzipWriter.swift",
            ],
            // The modules that speak HTTP to others: the client of Apple's API, the deliveries, and
            // the store that stands in for Apple's.
            "AsyncHTTPClient": [
                "Sources/Deliveries/", "Sources/SimulatedStoreService/",
                "Sources/SubledgerAppStore/",
            ],
            "Deliveries": ["Sources/SubledgerCommand/"],
            "SubledgerAppStore": ["Sources/Deliveries/", "Sources/SubledgerCommand/"],
            "SimulatedStoreService": ["Sources/SubledgerCommand/"],
            "EmbeddedPostgres": [
                "Sources/CommandSupport/", "Sources/Subledger/Export/DuckDB.swift",
                "Sources/Subledger/Ledger+Opening.swift", "Sources/Subledger/PrivateServer.swift",
                "Sources/SubledgerCommand/", "Sources/SubledgerTesting/",
            ],
            "Postgres": [
                "Sources/CommandSupport/", "Sources/EmbeddedPostgres/", "Sources/EventLog/",
                "Sources/Projector/", "Sources/Subledger/", "Sources/SubledgerBench/",
                "Sources/SubledgerCommand/",
            ],
        ]
        for (path, text) in try TidyTests.files(in: TidyTests.product) {
            for (module, folders) in allowed where text.contains("import \(module)\n") {
                #expect(
                    folders.contains { path.hasPrefix($0) },
                    "\(path) imports \(module), against the arrows of Package.swift"
                )
            }
        }
    }

    @Test func `positions write themselves: nothing above the log passes on how many lanes it has`()
        throws
    {
        let above = [
            "Sources/Subledger", "Sources/SubledgerCommand", "Sources/SubledgerHTTP", "Projections",
        ]
        for (path, text) in try TidyTests.files(in: above) {
            // The number is chosen where a ledger is made, and read back with its identity.
            let madeHere = ["Migrator.Layout(", "LedgerIdentity("]
            guard !madeHere.contains(where: text.contains) else { continue }
            for line in text.split(separator: "\n") where !line.contains("///") {
                let isPassed = line.contains(#/(^\s*|[(,]\s*)(_ |of )?lanes: /#)
                #expect(!isPassed || line.contains("\""), "\(path): \(line)")
            }
        }
    }

    @Test func `folds read neither a clock nor random numbers`() throws {
        // Apple's data: trap 38
        let words = [
            "import Foundation", "systemClock", "Date()", ".random", "ContinuousClock", " await ",
        ]
        for (path, text) in try TidyTests.files(in: ["Projections", "Sources/Events"]) {
            for word in words {
                #expect(!text.contains(word), "\(path) contains `\(word)`")
            }
        }
    }

    @Test func `the product swallows no error and contains no traces of development`() throws {
        let words = ["try!", "try? ", "catch {}", "fatalError(", "TODO", "FIXME", "shared/"]
        for (path, text) in try TidyTests.files(in: TidyTests.product) {
            for word in words { #expect(!text.contains(word), "\(path) contains `\(word)`") }
        }
    }

    @Test func `the projection in the README is the one that is compiled`() throws {
        let readme = try String(
            contentsOf: TidyTests.root.appendingPathComponent("README.md"),
            encoding: .utf8
        )
        let example = try String(
            contentsOf: TidyTests.root
                .appendingPathComponent("Tests/Example/Sources/App/Trials.swift"),
            encoding: .utf8
        )
        #expect(readme.contains("```swift\n\(example)```\n"))
    }

    @Test func `the README is short, and its commands and folders exist`() throws {
        let readme = try String(
            contentsOf: TidyTests.root.appendingPathComponent("README.md"),
            encoding: .utf8
        )
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
        let makefile = try String(
            contentsOf: TidyTests.root.appendingPathComponent("Makefile"),
            encoding: .utf8
        )
        for target in ["demo", "test", "release", "lint"] {
            #expect(readme.contains("make \(target)"))
            #expect(makefile.contains("\n\(target):"))
        }
        for folder in readme.matches(of: #/^  ([A-Z][A-Za-z]+)\/ /#.anchorsMatchLineEndings()) {
            let path = TidyTests.root.appendingPathComponent("Sources/\(folder.1)").path
            #expect(FileManager.default.fileExists(atPath: path), "README names \(folder.1)/")
        }
    }
}

/// Finds functions by their indentation, which the formatter guarantees.
private struct FunctionLengths {
    private(set) var lengths: [(head: String, lines: Int)] = []

    init(_ text: String) {
        var open: (head: String, indent: Int, start: Int)?
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let indent = line.prefix { $0 == " " }.count
            let code = line.dropFirst(indent)
            if let function = open {
                guard indent == function.indent, code.hasPrefix("}") else { continue }
                lengths.append((function.head, number - function.start + 1))
                open = nil
            } else if code.contains("func ") || code.contains("init(") {
                guard !code.hasPrefix("//"), !code.hasSuffix("}") else { continue }
                let isDeclaration =
                    code.hasPrefix("func ") || code.hasPrefix("init")
                    || code.contains(" func ") || code.contains(" init")
                if isDeclaration, !code.contains("=") || code.hasPrefix("@Test") {
                    open = (String(code.prefix(60)), indent, number)
                }
            }
        }
    }
}
