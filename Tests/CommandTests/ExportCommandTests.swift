import Events
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// `export` from the outside: killed, on a full disk, and read by DuckDB.
@Suite(.enabled { await TestServer.isAvailable })
struct ExportCommandTests {
    private struct Document: Decodable {
        struct Table: Decodable {
            let name: String
            let rows: Int64
            let files: Int
            let filesWritten: Int
        }
        let positions: [String: Int64]
        let tables: [Table]
    }

    @Test func `an export that is killed at any moment continues, and ends in the same bytes`()
        async throws
    {
        try await Self.withTables { command, settings in
            let (folder, arguments) = (try TestFolder(), Self.arguments)
            try await command.expect(0, arguments + ["--out", folder.path(of: "whole")])
            let whole = try Self.tree(folder.path(of: "whole"))
            #expect(whole.count > 500)
            let place = folder.path(of: "killed")
            // After so many files; each is a line of the progress.
            let counts = [1, 40, 41, 300]
            for count in counts {
                let program = try Program("subledger").start(
                    arguments + ["--out", place],
                    environment: command.environment
                )
                // A thread, because the commands of other tests may keep tasks waiting.
                Thread.detachNewThread { [process = program.processId] in
                    let progress = place + "/_progress.ndjson"
                    var lines = 0
                    while lines < count, kill(process, 0) == 0 {
                        usleep(500)
                        let text = FileManager.default.contents(atPath: progress) ?? Data()
                        lines = text.count { $0 == 0x0a }
                    }
                    if lines >= count { kill(process, SIGKILL) }
                }
                let ending = await program.ending()
                #expect(ending.wasKilled, "the export ended before it had \(count) files")
                #expect(!FileManager.default.fileExists(atPath: place + "/manifest.json"))
            }
            let resumed = try JSONDecoder().decode(
                Document.self,
                from: Data(
                    try await command.expect(0, arguments + ["--out", place, "--json"]).utf8
                )
            )
            #expect(try Self.tree(place) == whole)
            let written = resumed.tables.reduce(0) { $0 + $1.filesWritten }
            let files = resumed.tables.reduce(0) { $0 + $1.files }
            // A kill between the line and the file in its place costs that one file again.
            let kept = 300 - counts.count
            #expect(written > 0 && written <= files - kept, "\(written) of \(files) written last")
            try await command.expect(0, arguments + ["--out", place])
            #expect(try Self.tree(place) == whole)
        }
    }

    @Test func `a disk that takes no more is 70, and the next run continues`() async throws {
        try await Self.withTables { command, _ in
            let folder = try TestFolder()
            let whole = folder.path(of: "whole")
            let place = folder.path(of: "full")
            try await command.expect(0, ["export", "transactions", "--out", whole, "--quiet"])
            let ending = try await Self.onFullDisk(
                ["export", "transactions", "--out", place, "--partition-by", "none", "--quiet"],
                command
            )
            #expect(ending.code == 70, "\(ending.errors)")
            #expect(
                ending.errors.contains("cannot be written: File too large; earlier exports"),
                "\(ending.errors)"
            )
            #expect(ending.errors.contains("[file-system]"))
            #expect(!FileManager.default.fileExists(atPath: "\(place)/manifest.json"))
            try await command.expect(0, ["export", "transactions", "--out", place, "--quiet"])
            #expect(try Self.tree(place) == Self.tree(whole))
        }
    }

    @Test func `a line of progress that was cut off is taken away`() async throws {
        try await Self.withTables { command, _ in
            let folder = try TestFolder()
            let (whole, place) = (folder.path(of: "whole"), folder.path(of: "torn"))
            let arguments = ["export", "transactions", "--partition-by", "day", "--quiet", "--out"]
            try await command.expect(0, arguments + [whole])
            try folder.write("torn/_progress.ndjson", Array("{\"table\":\"tra".utf8))
            // It writes lines of its own, and then the disk is full.
            let ending = try await Self.onFullDisk(arguments + [place], command)
            #expect(ending.code == 70, "\(ending.errors)")
            try await command.expect(0, arguments + [place])
            #expect(try Self.tree(place) == Self.tree(whole))
        }
    }

    @Test func `nothing is written behind a link`() async throws {
        try await Self.withTables { command, _ in
            let folder = try TestFolder()
            let place = folder.path(of: "out")
            let arguments = ["export", "transactions", "--quiet", "--out", place]
            try await command.expect(0, arguments + ["--partition-by", "none"])
            let (table, other) = (folder.path(of: "out/transactions"), folder.path(of: "elsewhere"))
            try FileManager.default.moveItem(atPath: table, toPath: other)
            try FileManager.default.createSymbolicLink(
                atPath: table,
                withDestinationPath: other
            )
            let before = try Self.tree(other)
            for more in [["--partition-by", "year"], ["--ndjson"]] {
                let ending = try await command.run(arguments + more)
                #expect(ending.code == 64, "\(ending.errors)")
                #expect(ending.errors.contains("\(table) is a symbolic link"), "\(ending.errors)")
            }
            #expect(try Self.tree(other) == before)
        }
    }

    @Test func `what cannot be exported is refused by name, before a file is written`()
        async throws
    {
        try await Self.withTables { command, _ in
            let folder = try TestFolder()
            let place = folder.path(of: "out")
            let other = try folder.write("notes/mine.txt", Array("mine".utf8))
            let notes = URL(fileURLWithPath: other).deletingLastPathComponent().path
            for (arguments, code, words) in [
                (["movments", "--out", place], 64, "unknown table 'movments'"),
                (["movments", "--out", place], 64, "transactions_history, movements"),
                (["--out", place, "--partition-by", "planet"], 64, "partitioned by 'planet'"),
                (["--out", place, "--csv", "--ndjson"], 64, "exclude each other"),
                (["--out", notes], 64, "contains other files (mine.txt) and no export"),
                (["--out", other], 70, "mine.txt cannot be made: Not a directory"),
                (["--out", "/proc/none"], 70, "/proc/none cannot be made: "),
                (["ingest_quality", "--known-at", "5", "--out", place], 64, "counts ingest runs"),
            ] as [([String], Int32, String)] {
                let ending = try await command.run(["export"] + arguments)
                #expect(ending.code == code, "\(arguments): \(ending.errors)")
                #expect(ending.errors.contains(words), "\(arguments): \(ending.errors)")
                #expect(ending.output.isEmpty)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: notes) == ["mine.txt"])
            try await command.expect(0, "export", "customers", "--out", place)
            let manifest = place + "/manifest.json"
            let text = try String(contentsOfFile: manifest, encoding: .utf8)
            try Data(text.replacing("\"ledgerId\" : \"", with: "\"ledgerId\" : \"0").utf8)
                .write(to: URL(fileURLWithPath: manifest))
            let foreign = try await command.run("export", "--out", place)
            #expect(foreign.code == 64 && foreign.errors.contains("[other-ledger]"))
            // What a document names may be removed, so it must be of the export.
            for path in ["customers/../../notes/mine.txt", "/etc/hostname", "periods/x"] {
                let edited = text.replacing("customers/customers.csv.gz", with: path)
                try #require(edited != text)
                try Data(edited.utf8).write(to: URL(fileURLWithPath: manifest))
                let outside = try await command.run("export", "customers", "--out", place)
                #expect(
                    outside.code == 65 && outside.errors.contains("names the file \(path), which")
                )
            }
            #expect(FileManager.default.fileExists(atPath: other))
            try Data("{".utf8).write(to: URL(fileURLWithPath: manifest))
            let damaged = try await command.run("export", "--out", place)
            #expect(damaged.code == 65 && damaged.errors.contains("[damaged-manifest]"))
        }
    }

    @Test func `the program duckdb writes Parquet, and the manifest lists its files`() async throws
    {
        try await Self.withTables { command, _ in
            let folder = try TestFolder()
            let place = folder.path(of: "out")
            let export = ["export", "transactions", "--out", place, "--quiet"]
            try await command.expect(0, export)
            // Stands for DuckDB: what it writes is what it would read.
            try Self.write(
                "from=${4#*read_csv(\\'} to=${4##*TO \\'}; gzip -dc \"${from%%\\'*}\" > \"${to%%\\'*}\"",
                in: folder
            )
            let path = "\(folder.path(of: "bin")):/usr/bin:/bin"
            let duck = Command(environment: command.environment.merging(["PATH": path]) { $1 })
            try await duck.expect(0, export + ["--parquet"])
            let manifest = try JSONDecoder().decode(
                ExportManifest.self,
                from: Data(contentsOf: URL(fileURLWithPath: "\(place)/manifest.json"))
            )
            let files = try #require(manifest.tables.first).files
            #expect(files.count > 10)
            for file in files {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(place)/\(file.path)"))
                #expect(file.path.hasSuffix("/transactions.parquet"))
                #expect(file.sha256 == Digest.of(Array(bytes)).hex && file.bytes == bytes.count)
                #expect(bytes.count { $0 == 0x0a } == file.rows + 1, "\(file.path)")
            }
            let tree = try Self.tree(place)
            #expect(tree.keys.filter { $0.contains("/") }.count == files.count)
            let views = String(decoding: try #require(tree["duckdb.sql"]), as: UTF8.self)
            #expect(views.contains("read_parquet('transactions/**/*.parquet'"), "\(views)")
            let again = try JSONDecoder().decode(
                Document.self,
                from: Data(try await duck.expect(0, export + ["--parquet", "--json"]).utf8)
            )
            #expect(again.tables[0].filesWritten == 0)
        }
    }

    @Test func `an export of Parquet without DuckDB names what to install`() async throws {
        try await Self.withTables { command, _ in
            let folder = try TestFolder()
            let export = ["export", "transactions", "--parquet", "--out", folder.path(of: "out")]
            let path = folder.path(of: "bin")
            let alone = Command(environment: command.environment.merging(["PATH": path]) { $1 })
            let missing = try await alone.run(export)
            #expect(missing.code == 78 && missing.output.isEmpty, "\(missing.errors)")
            #expect(missing.errors.contains("pip install duckdb-cli"), "\(missing.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path(of: "out")))
            // Its first line says what failed; others may contain values.
            try Self.write("echo 'IO Error: no space'; echo 'value 42'; exit 1", in: folder)
            let failed = try await alone.run(export)
            #expect(failed.code == 70 && failed.errors.contains("IO Error: no space"))
            #expect(!failed.errors.contains("value 42"), "\(failed.errors)")
        }
    }

    // A program of this name, as a script.
    private static func write(_ duckdb: String, in folder: TestFolder) throws {
        let path = try folder.write("bin/duckdb", Array("#!/bin/sh\n\(duckdb)\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// Those that `make acceptance` names, and DuckDB unless it does.
    private static let engines =
        (ProcessInfo.processInfo.environment["SUBLEDGER_ENGINES"]
        ?? "duckdb").split(separator: ",").map(String.init)

    @Test(
        .enabled(if: Acceptance.isRunning, "make acceptance runs it"),
        arguments: engines,
        ["--csv", "--ndjson", "--parquet"]
    )
    func `an engine computes the same retention from the files`(
        _ engine: String,
        _ format: String
    ) async throws {
        // The script reads JSON and Parquet with DuckDB only.
        guard engine == "duckdb" || format == "--csv" else { return }
        try await Self.withTables { command, settings in
            let folder = try TestFolder()
            let place = folder.path(of: "out")
            let document = try await command.json(
                Document.self,
                "export",
                "--out",
                place,
                format,
                "--quiet"
            )
            #expect(document.tables.contains { $0.name == "retention" && $0.files > 3 })
            let session = try await PostgresSession.connect(settings)
            let ours = try await session.query(
                """
                SELECT concat_ws(',', cohort, environment, product_identifier, period_number,
                    sum(had_opportunity), sum(retained))
                FROM analytics.retention
                GROUP BY cohort, environment, product_identifier, period_number
                HAVING sum(had_opportunity) > 0
                """
            ).map { try $0.text(0) }.sorted()
            await session.close()
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("read_export.py").path
            let theirs = try await DuckDB.python.run([script, engine, place])
            #expect(theirs.code == 0, "\(theirs.errors)")
            #expect(theirs.output.split(separator: "\n").map(String.init) == ours)
            #expect(ours.count > 20)
        }
    }

    private static let arguments = ["export", "--partition-by", "day", "--quiet"]

    // Files of at most 4 blocks of 512 bytes: the system refuses the rest, as a full disk does.
    private static func onFullDisk(
        _ arguments: [String],
        _ command: Command
    ) async throws -> Program.Ending {
        let words = ([try Program("subledger").path] + arguments).map { "'\($0)'" }
        return try await Program(path: "/bin/sh").run(
            ["-c", "trap '' XFSZ; ulimit -f 4; exec \(words.joined(separator: " "))"],
            environment: command.environment
        )
    }

    private static func withTables(
        _ body: (Command, ConnectionSettings) async throws -> Void
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await body(command, settings)
        }
    }

    /// The bytes of all files below a folder, by path.
    private static func tree(_ path: String) throws -> [String: Data] {
        var tree: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            let url = URL(fileURLWithPath: "\(path)/\(name)")
            guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            else { continue }
            tree[name] = try Data(contentsOf: url)
        }
        return tree
    }
}

/// DuckDB as a package of Python.
enum DuckDB {
    /// The interpreter that has it.
    static var python: Program { Program(path: place ?? "/usr/bin/python3") }

    private static let place: String? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { "\($0)/python3" }.first { place in
            guard FileManager.default.isExecutableFile(atPath: place) else { return false }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: place)
            process.arguments = ["-c", "import duckdb"]
            process.standardError = FileHandle.nullDevice
            do { try process.run() } catch { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }()
}
