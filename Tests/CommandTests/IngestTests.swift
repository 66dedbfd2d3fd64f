import Foundation
import Postgres
import TestSupport
import Testing

/// The inputs: stdin, NDJSON, arrays, folders; and being stopped.
@Suite(.enabled { await TestServer.isAvailable })
struct IngestTests {
    @Test func `a simulated store is ingested completely and reported correctly`() async throws {
        let simulation = try await Simulation.shared
        try await withLedger { command, _ in
            let output = try await command.expect(
                0,
                simulation.arguments + ["--json", simulation.payloads]
            )
            let report = try JSONDecoder().decode(IngestDocument.self, from: Data(output.utf8))
            #expect(report.rejected == 0)
            #expect(report.skipped == 2, "root.der and catalog.storekit are not payloads")
            #expect(report.payloads == (try simulation.allPayloads().count))
            let truths = try String(contentsOfFile: simulation.truth, encoding: .utf8)
                .split(separator: "\n")
            #expect(truths.count == 25)
            for line in truths {
                let truth = try JSONDecoder().decode(PeriodsDocument.self, from: Data(line.utf8))
                let told = try await command.json(
                    PeriodsDocument.self,
                    "periods",
                    truth.originalTransactionId
                )
                #expect(told == truth, "seed 9")
            }
            let again = try await command.run(simulation.arguments + [simulation.payloads])
            #expect(again.output.contains(" 0 facts appended"))
            #expect(again.errors.isEmpty, "--quiet, and nothing was refused: \(again.errors)")
            try await command.expectSoundLog(events: Int64(report.appended))
        }
    }

    @Test func `lives with seats, bundles and retention offers give their true periods`()
        async throws
    {
        let folder = try TestFolder()
        let (payloads, truth) = (folder.path(of: "store"), folder.path(of: "truth.ndjson"))
        try await withLedger { command, _ in
            try await command.expect(
                0,
                [
                    "simulate", "--quiet", "--subscriptions", "40", "--seed", "36", "--extras",
                    "all", "--format", "v2,history", "--truth", truth, "--out", payloads,
                ]
            )
            let report = try await command.ingest(
                "--root-certificate",
                "\(payloads)/root.der",
                payloads
            )
            #expect(report.rejected == 0)
            let truths = try String(contentsOfFile: truth, encoding: .utf8).split(separator: "\n")
            for line in truths {
                let truth = try JSONDecoder().decode(PeriodsDocument.self, from: Data(line.utf8))
                let told = try await command.json(
                    PeriodsDocument.self,
                    "periods",
                    truth.originalTransactionId
                )
                #expect(told == truth)
            }
        }
    }

    @Test func `lines, an array, single files and stdin give the same facts`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payloads = Array(try simulation.allPayloads().prefix(40))
        let lines = try folder.write("lines.ndjson", payloads.joined(separator: [0x0a]))
        let array = try folder.write(
            "array.json",
            Data("[".utf8) + payloads.joined(separator: Data(",\n ".utf8)) + Data("]".utf8)
        )
        for (number, payload) in payloads.enumerated() {
            try folder.write("single/\(number / 10)/\(number).json", payload)
        }
        let ways = [[lines], [array], [folder.path(of: "single")], ["-"]]
        var digests: Set<[String]> = []
        for way in ways {
            try await withLedger { command, _ in
                let ending = try await command.run(
                    simulation.arguments + ["--json"] + way,
                    inputFile: way == ["-"] ? lines : nil
                )
                #expect(ending.code == 0, "\(way): \(ending.errors)")
                let report = try JSONDecoder().decode(
                    IngestDocument.self,
                    from: Data(ending.output.utf8)
                )
                #expect(report.payloads == 40, "\(way)")
                digests.insert(try await command.rebuiltDigest())
                let digest = try await command.run(
                    simulation.arguments + [lines, array, folder.path(of: "single")]
                )
                #expect(digest.output.contains(" 0 facts appended"), "\(way)")
            }
        }
        #expect(digests.count == 1)
    }

    @Test func `a refused line is named by its number, and the others are recorded`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        var payloads = Array(try simulation.allPayloads().prefix(5))
        payloads.insert(Data("{\"a\":1,\"a\":2}".utf8), at: 2)
        let lines = try folder.write("lines.ndjson", payloads.joined(separator: [0x0a]))
        try await withLedger { command, _ in
            let arguments = simulation.arguments + [lines]
            let output = try await command.expect(65, arguments + ["--json"])
            let report = try JSONDecoder().decode(IngestDocument.self, from: Data(output.utf8))
            #expect(report.rejections.map(\.path) == ["\(lines)#3"])
            #expect(report.rejections.map(\.reason) == ["json-duplicate-name"])
            #expect(report.payloads == 6)
            let ending = try await command.run(arguments.filter { $0 != "--quiet" } + ["--verbose"])
            #expect(ending.errors.contains("refused  \(lines)#3: "))
            #expect(ending.errors.contains("[json-duplicate-name]"))
            #expect(ending.output.split(separator: "\n").count == 1)
            let quiet = try await command.run(arguments)
            #expect(quiet.errors.isEmpty && quiet.output == ending.output)
        }
    }

    @Test func `missing or unreadable files are refused, not ignored`() async throws {
        let folder = try TestFolder()
        try folder.write("empty.json", [])
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(of: "dangling.json"),
            withDestinationPath: folder.path(of: "nowhere")
        )
        try folder.write("notes.md", Array("# not a payload".utf8))
        try folder.write(".hidden", Array("{}".utf8))
        try await withLedger { command, _ in
            let report = try await command.ingest(exit: 65, folder.path)
            let reasons = Dictionary(
                uniqueKeysWithValues: report.rejections.map { ($0.path, $0.reason) }
            )
            #expect(reasons[folder.path(of: "dangling.json")] == "unreadable")
            #expect(reasons[folder.path(of: "empty.json")] == "payload-empty")
            #expect(report.payloads == 2)
            #expect(report.skipped == 2)
            try await command.expect(66, "ingest", folder.path(of: "nowhere"))
            try await command.expect(66, "ingest", "--root-certificate", "/nowhere", folder.path)
            try await command.expect(
                78,
                "ingest",
                "--root-certificate",
                folder.path(of: "notes.md"),
                folder.path
            )
        }
    }

    @Test func `each of twenty thousand files and twenty thousand lines is read once`()
        async throws
    {
        let folder = try TestFolder()
        let count = 20_000
        // Links to one file: the test counts entries, and links are created faster.
        let file = try folder.write("many/0.json", Array("{}".utf8))
        for number in 1..<count {
            try FileManager.default.linkItem(
                atPath: file,
                toPath: folder.path(of: "many/\(number).json")
            )
        }
        let lines = try folder.write(
            "lines.ndjson",
            Array(repeatElement("{\"n\":1}\n", count: count).joined().utf8)
        )
        try await withLedger { command, _ in
            for path in [folder.path(of: "many"), lines] {
                let report = try await command.ingest(exit: 65, "--quiet", path)
                #expect(report.payloads == count)
                #expect(report.rejected == count)
                #expect(report.rejections.count == 10_000, "the list has a limit")
                #expect(Set(report.rejections.map(\.path)).count == 10_000)
            }
            try await command.expectSoundLog(events: 0)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `Ctrl-C finishes the work under way and leaves a sound log`(signal: Int32) async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        // The same payloads repeatedly, so that it lasts until the signal arrives.
        let all = try simulation.allPayloads().joined(separator: [0x0a]) + [0x0a]
        let lines = try folder.write("lines.ndjson", [])
        let handle = try #require(FileHandle(forWritingAtPath: lines))
        for _ in 0..<20 { try handle.write(contentsOf: Data(all)) }
        try handle.close()
        try await withLedger { command, settings in
            let running = try Program("subledger").start(
                simulation.arguments + ["--json", lines],
                environment: command.environment
            )
            while try await settings.number("SELECT count(*) FROM ledger.commit") == 0 {
                try #require(running.isRunning)
            }
            running.signal(signal)
            let ending = await running.ending()
            #expect(ending.code == 130 && !ending.wasKilled, "\(ending.errors)")
            let report = try JSONDecoder().decode(
                IngestDocument.self,
                from: Data(ending.output.utf8)
            )
            #expect(report.rejected == 0)
            #expect(report.payloads > 0)
            try await command.expectSoundLog(events: Int64(report.appended))
            let counted = "SELECT payloads FROM ledger.ingestion WHERE was_stopped"
            #expect(try await settings.number(counted) == Int64(report.payloads))
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await command.expectSoundLog()
        }
    }
}
