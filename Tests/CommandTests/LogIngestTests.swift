import CommandSupport
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// `ingest` of ten years' leftovers: compressed files, logs, pipes, names with any bytes.
@Suite(.enabled { await TestServer.isAvailable })
struct LogIngestTests {
    @Test func `truncated payloads in a table or a log are refused, not ignored`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let whole = try simulation.allPayloads().compactMap { payload in
            String(decoding: payload, as: UTF8.self).split(separator: "\"")
                .first { $0.hasPrefix("eyJ") }.map(String.init)
        }.prefix(6)
        try #require(whole.count == 6)
        var rows = ["id,payload"]
        var lines: [String] = []
        for (number, jws) in whole.enumerated() {
            let kept = number.isMultiple(of: 2) ? jws : String(jws.dropLast(120))
            rows.append("\(number),\(kept)")
            lines.append("2026-01-01T00:00:00Z INFO received jws=\(kept) from apple")
        }
        try folder.write("rows.csv", Array(rows.joined(separator: "\n").utf8))
        try folder.write("app.log", Array(lines.joined(separator: "\n").utf8))
        try await withLedger { command, _ in
            let report = try await command.ingest(
                exit: 65,
                "--root-certificate",
                simulation.root,
                folder.path
            )
            #expect(report.payloads == 12 && report.rejected == 6)
            let kept = try await command.json(RejectionsDocument.self, "rejections")
            #expect(kept.count == 3, "the same bytes are one rejection")
        }
    }

    @Test func `base64 of gzip is unpacked and searched, in a field, a line and a file`()
        async throws
    {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payloads = try Array(simulation.allPayloads().prefix(4))
        try #require(payloads.count == 4)
        let texts = payloads.map { String(decoding: $0, as: UTF8.self) }
        let packed = payloads.map { Self.packed(Array($0)) }
        let nested = Self.packed(Array("INFO a\nINFO body=\(packed[3]) ms=3\n".utf8))
        try folder.write("field.ndjson", Array("{\"data\":\"\(packed[0])\"}\n".utf8))
        try folder.write("line.log", Array("10:00 INFO got \(packed[1]) in 3 ms\n".utf8))
        try folder.write("whole.txt", Array(packed[2].utf8))
        try folder.write("nested.log", Array("10:00 \(nested)\n10:01 nothing\n".utf8))
        // What is packed without a payload is a line without one.
        let other = Self.packed(Array(repeating: UInt8(ascii: "a"), count: 100_000))
        try folder.write("other.log", Array("10:00 \(other)\n10:01 \(texts[0])\n".utf8))
        try await withLedger { command, _ in
            let report = try await command.ingest(
                "--root-certificate",
                simulation.root,
                folder.path
            )
            #expect(report.payloads == 5 && report.rejected == 0, "\(report.rejections)")
        }
    }

    @Test(arguments: [60, 64, 76])
    func `base64 of gzip and a JWS are read the same if they are wrapped`(columns: Int) async throws
    {
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads().prefix(9).map { Array($0) }
        let jws = try #require(
            String(decoding: payloads[8], as: UTF8.self).split(separator: "\"")
                .first { $0.hasPrefix("eyJ") }
        )
        // As many letters as whole lines have, one line with a letter more, and others.
        let packed = (0..<8).map { number in
            let text = payloads[number] + [UInt8](repeating: 0x20, count: number)
            return Self.packed(text)
        }
        func wrapped(_ text: some StringProtocol, _ end: String) -> String {
            let letters = Array(text)
            return stride(from: 0, to: letters.count, by: columns).map { start in
                String(letters[start..<min(start + columns, letters.count)]) + end
            }.joined()
        }
        let folder = try TestFolder()
        let lines = payloads.prefix(8).map { String(decoding: $0, as: UTF8.self) } + [String(jws)]
        try folder.write("plain/a.ndjson", Array(lines.joined(separator: "\n").utf8))
        let one = packed[0..<3].map { wrapped($0, "\n") + "10:00 done\nword\n" }.joined()
        try folder.write("packed/one.log", Array((one + wrapped(jws, "\n")).utf8))
        let two = packed[3..<7].map { wrapped($0, "\r\n") }.joined()
        try folder.write("packed/two.txt", Array(two.utf8))
        try folder.write("packed/whole.b64", Array(wrapped(packed[7], "\n").utf8))
        var (digests, facts): ([[String]], [Int]) = ([], [])
        for place in ["plain", "packed"] {
            try await withLedger { command, _ in
                let report = try await command.ingest(
                    "--root-certificate",
                    simulation.root,
                    folder.path(of: place)
                )
                #expect(report.payloads == 9, "\(place): \(report.rejections)")
                facts.append(report.appended + report.duplicates)
                digests.append(try await command.rebuiltDigest())
            }
        }
        #expect(facts[0] == facts[1] && digests[0] == digests[1])
    }

    @Test func `base64 of gzip that is cut off or unpacks to too much is refused`() async throws {
        let simulation = try await Simulation.shared
        let payload = try #require(try simulation.allPayloads().first)
        let folder = try TestFolder()
        let cut = Self.packed(Array(payload)).dropLast(64)
        try folder.write("cut.log", Array("10:00 body=\(cut) ms=3\n".utf8))
        let bomb = Self.packed(Array(repeating: UInt8(ascii: " "), count: (16 << 20) + 1))
        try folder.write("bomb.log", Array("10:00 body=\(bomb) ms=3\n".utf8))
        try await withLedger { command, _ in
            let report = try await command.ingest(
                exit: 65,
                "--root-certificate",
                simulation.root,
                folder.path
            )
            let messages = report.rejections.map(\.message).sorted()
            #expect(report.appended == 0, "\(messages)")
            #expect(messages.contains { $0.contains("damaged or cut off") }, "\(messages)")
            #expect(messages.contains { $0.contains("more than 16777216 bytes") }, "\(messages)")
        }
    }

    private static func packed(_ bytes: [UInt8]) -> String {
        Data(GzipWriter.member(bytes)).base64EncodedString()
    }

    @Test func `a folder of logs gives the same as the plain payloads`() async throws {
        let folder = try TestFolder()
        let lives = Acceptance.count("SUBLEDGER_LOG_LIVES", test: 16, acceptance: 1000)
        var (digests, facts, streams, payloads): ([[String]], [Int], [Int], [Int]) = (
            [], [], [], []
        )
        for flags in [[], ["--as-logs"]] {
            let out = folder.path(of: "sim\(flags.count)")
            let arguments = [
                "simulate", "--quiet", "--subscriptions", "\(lives)", "--seed", "16", "--format",
                "all",
                "--out", out,
            ]
            try await Command(environment: [:]).expect(0, arguments + flags)
            try await withLedger { command, _ in
                let report = try await command.ingest(
                    "--vouch",
                    "--root-certificate",
                    "\(out)/root.der",
                    out
                )
                #expect(report.rejections.map(\.path) == [])
                payloads.append(report.payloads)
                streams.append(report.streams)
                facts.append(report.appended + report.duplicates)
                digests.append(try await command.rebuiltDigest())
            }
        }
        #expect(payloads[0] == payloads[1])
        #expect(streams[0] == streams[1])
        #expect(facts[0] == facts[1])
        #expect(digests[0] == digests[1])
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path(of: "sim1"))
        for word in [
            "prefixed.log.gz", "table.csv", "dump.sql", "mongo.json", "firestore.json", "mysql.sql",
            "rails.log", "nginx.log", "docker.log", "kubernetes.log", "excel.csv",
            "cloudwatch.ndjson",
        ] {
            #expect(names.contains { $0.hasSuffix(word) }, "\(word) in none of the names")
        }
    }

    @Test func `gzip is read with any name, any number of members and any end`() async throws {
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads().prefix(6).map { Array($0) }
        let lines = Array(payloads.joined(separator: [0x0a]))
        let folder = try TestFolder()
        let (first, second) = (lines.prefix(lines.count / 3), lines.dropFirst(lines.count / 3))
        let joined =
            GzipWriter.member(Array(first)) + GzipWriter.member(Array(second)) + [0, 0, 0, 0]
        let named = try folder.write("joined", joined)
        let cut = try folder.write("cut.gz", joined.dropLast(120))
        let foreign = try folder.write("foreign.gz", joined.dropLast(4) + Array("tail".utf8))
        try await withLedger { command, _ in
            let root = ["--root-certificate", simulation.root]
            let report = try await command.ingest(root[0], root[1], named)
            #expect(report.payloads == 6)
            let ending = try await command.run(
                ["ingest", "--json"] + root + ["-"],
                inputFile: named
            )
            #expect(ending.output.contains("\"payloads\":6"), "\(ending.errors)")
            let damaged = try await command.ingest(exit: 65, root[0], root[1], foreign)
            #expect(damaged.payloads == 7)
            #expect(damaged.rejections.map(\.reason) == ["unreadable"])
        }
        try await withLedger { command, _ in
            let ending = try await command.run(
                "ingest",
                "--root-certificate",
                simulation.root,
                cut
            )
            #expect(ending.code == 65)
            #expect(ending.errors.contains("but its end is missing"), "\(ending.errors)")
            try await command.expectSoundLog()
            let report = try await command.ingest("--root-certificate", simulation.root, named)
            #expect(report.duplicates > 0, "what stood before the cut is in")
        }
    }

    @Test func `a decompression bomb is refused in bounded memory and time`() async throws {
        let folder = try TestFolder()
        // 64 MiB of one line in 64 KB.
        let zeros = GzipWriter.member([UInt8](repeating: 0x20, count: 64 << 20))
        let bomb = try folder.write("bomb.gz", GzipWriter.member(Array("x".utf8)) + zeros)
        try await withLedger { command, _ in
            let report = try await command.ingest(exit: 65, bomb)
            #expect(report.rejections.map(\.reason) == ["payload-too-large"])
        }
    }

    @Test func `zstd is read through its program, and truncated data is reported`() async throws {
        let path = "/usr/bin/zstd"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            print("skipped: no \(path) here")
            return
        }
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads().prefix(6).map { Array($0) }
        let folder = try TestFolder()
        let plain = try folder.write("plain", Array(payloads.joined(separator: [0x0a])))
        let packed = folder.path(of: "packed")
        _ = try await Program(path: path).run(["-q", plain, "-o", packed])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: packed))
        let cut = try folder.write("cut", bytes.dropLast(30))
        try await withLedger { command, _ in
            let report = try await command.ingest("--root-certificate", simulation.root, packed)
            #expect(report.payloads == 6)
            let loud = ["ingest", "--root-certificate", simulation.root]
            let ending = try await command.run(loud + [cut])
            #expect(ending.code == 65)
            #expect(ending.errors.contains("compressed with zstd, and is damaged or cut off"))
            let unpacked = try await Program("subledger").run(
                loud + [packed],
                environment: command.environment.merging(["PATH": "/nowhere"]) { $1 }
            )
            #expect(unpacked.code == 65)
            #expect(unpacked.errors.contains("install the program zstd"), "\(unpacked.errors)")
        }
    }

    @Test func `pipes, sockets and devices in a folder are skipped and named`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        try folder.write("a.json", try simulation.allPayloads()[0])
        let pipe = folder.path(of: "pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        try await withLedger { command, _ in
            let arguments = ["ingest", "--root-certificate", simulation.root, folder.path]
            let ending = try await command.run(arguments)
            #expect(ending.code == 0, "\(ending.errors)")
            #expect(ending.errors.contains("skipped \(pipe): it is a named pipe"))
            #expect(ending.output.contains("1 other file"))
        }
    }

    @Test func `a named pipe is read while it is held open, and one signal ends the wait`()
        async throws
    {
        let simulation = try await Simulation.shared
        let payload = Array(try simulation.allPayloads()[0])
        let folder = try TestFolder()
        for packed in [false, true] {
            let path = folder.path(of: "pipe\(packed)")
            #expect(mkfifo(path, 0o600) == 0)
            try await withLedger { command, settings in
                let running = try Program("subledger").start(
                    simulation.arguments + [path],
                    environment: command.environment
                )
                // Opens when the program does, not before.
                let pipe = open(path, O_WRONLY)
                defer { close(pipe) }
                let line = Array("10:00 INFO body=".utf8) + payload + [0x0a]
                let bytes = packed ? GzipWriter.member(line) : line
                #expect(write(pipe, bytes, bytes.count) == bytes.count)
                while try await settings.number("SELECT count(*) FROM ledger.commit") == 0 {
                    try #require(running.isRunning)
                }
                running.signal(SIGTERM)
                let ending = await running.ending()
                #expect(ending.code == 130 && !ending.wasKilled, "\(ending.errors)")
                #expect(ending.output.hasPrefix("1 payload: "), "\(ending.output)")
            }
        }
    }

    @Test func `one signal ends the wait for a writer of a named pipe`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let file = try folder.write("a.json", try simulation.allPayloads()[0])
        let path = folder.path(of: "pipe")
        #expect(mkfifo(path, 0o600) == 0)
        try await withLedger { command, settings in
            let running = try Program("subledger").start(
                simulation.arguments + [file, path],
                environment: command.environment
            )
            while try await settings.number("SELECT count(*) FROM ledger.commit") == 0 {
                try #require(running.isRunning)
            }
            running.signal(SIGTERM)
            let ending = await running.ending()
            #expect(ending.code == 130 && !ending.wasKilled, "\(ending.errors)")
        }
    }

    @Test func `file names that are not UTF-8 are read, and printed repaired`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payloads = try simulation.allPayloads()
        let good = try folder.write("a.json", payloads[0])
        let name = Array("\(folder.path)/b".utf8) + [0xff] + Array(".json".utf8)
        // On a file system that accepts only UTF-8 there is nothing to test.
        guard rename(good, name.map { CChar(bitPattern: $0) } + [0]) == 0 else { return }
        let broken = try folder.write("c.json", Array("{".utf8))
        let other = Array("\(folder.path)/d".utf8) + [0xfe]
        #expect(rename(broken, other.map { CChar(bitPattern: $0) } + [0]) == 0)
        try await withLedger { command, _ in
            let report = try await command.ingest(
                exit: 65,
                "--root-certificate",
                simulation.root,
                folder.path
            )
            #expect(report.payloads == 2)
            #expect(report.rejections.map(\.path) == ["\(folder.path)/d\u{fffd}"])
        }
    }

    @Test func `lines without a payload are counted, and a column can be named`() async throws {
        let simulation = try await Simulation.shared
        let payload = String(decoding: try simulation.allPayloads()[0], as: UTF8.self)
        let cell = payload.replacing("\"", with: "\"\"")
        let folder = try TestFolder()
        let log = try folder.write("app.log", Array("10:00 a\n10:01 b \(payload)\n10:02 c\n".utf8))
        let table = try folder.write("t.csv", Array("id,body\n1,\"\(cell)\"\n2,\n".utf8))
        try await withLedger { command, _ in
            let ending = try await command.run(
                ["ingest", "--root-certificate", simulation.root, "--column", "body", log, table]
            )
            #expect(ending.code == 0, "\(ending.errors)")
            #expect(ending.output.hasPrefix("2 payloads: "))
            #expect(ending.errors.contains("skipped 3 lines or rows without a payload"))
        }
    }
}
