import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// `feed` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct FeedTests {
    @Test func `a line contains the fields of history, flat, with the cursor`() async throws {
        try await withSimulatedLedger { command in
            let lines = try FeedTests.events(try await command.expect(0, "feed"))
            #expect(lines.count == Int(try await command.events()))
            let streams = try await command.json([StreamLine].self, "streams")
            for stream in streams.prefix(6) where !stream.originalTransactionId.isEmpty {
                let history = try await command.expect(
                    0,
                    "history",
                    stream.originalTransactionId,
                    "--environment",
                    stream.environment,
                    "--json"
                )
                let events = try #require(
                    (try JSONSerialization.jsonObject(with: Data(history.utf8))
                        as? [String: Any])?["events"] as? [[String: Any]]
                )
                for event in events {
                    let position = try #require(event["position"] as? Int)
                    let line = try FeedTests.object(lines[position - 1])
                    let expected = FeedTests.flat(event, of: stream)
                    for (name, value) in expected {
                        #expect("\(line[name] ?? "nothing")" == "\(value)", "\(name)")
                    }
                    #expect(
                        Set(line.keys).subtracting(expected.keys) == ["cursor", "format"]
                    )
                }
            }
        }
    }

    /// The members that `history` nests, or moves to its head.
    private static func flat(_ event: [String: Any], of stream: StreamLine) -> [String: Any] {
        var flat = event
        for name in [
            "fields", "summary", "isPayloadKept", "confirmations", "confirmedBy", "effective",
            "effect", "effectText", "earlierRevocationDate",
        ] {
            flat[name] = nil
        }
        if flat["asOfIsLowerBound"] as? Bool == false { flat["asOfIsLowerBound"] = nil }
        flat.merge(event["fields"] as? [String: Any] ?? [:]) { $1 }
        flat["originalTransactionId"] = stream.originalTransactionId
        flat["environment"] = stream.environment
        return flat
    }

    @Test func `none of Apple's properties shares a name with one of ours`() {
        let ours: Set = [
            "position", "recordedAt", "asOf", "kind", "format", "environment", "bundleId",
            "originalTransactionId", "purchaseDate", "expiresDate", "evidence", "evidenceKind",
            "source", "trust", "cursor", "confirms", "fields",
        ]
        #expect(ours.isDisjoint(with: Field.allCases.map { "\($0)" }))
    }

    @Test func `limit ends the feed, and the last cursor continues after it`() async throws {
        try await withSimulatedLedger { command in
            let all = try await command.expect(0, "feed")
            var parts = ""
            var cursor = ""
            for limit in ["1", "7", "499", "1000000", "1"] {
                let part = try await command.expect(0, "feed", "--after", cursor, "--limit", limit)
                parts += part
                cursor = try part.split(separator: "\n").last.map(FeedTests.cursor) ?? cursor
            }
            #expect(try FeedTests.events(parts) == FeedTests.events(all))
        }
    }

    /// Killed after this many lines; a truncated line does not count.
    @Test(arguments: [1, 4])
    func `a feed killed anywhere and resumed neither repeats nor omits an event`(
        lanes: Int
    ) async throws {
        let seed = UInt64(20_261_123 + lanes)
        var random = SeededGenerator(seed: seed)
        try await withSimulatedLedger(lanes: lanes) { command in
            let expected = try FeedTests.events(try await command.expect(0, "feed"))
            var positions: [String] = []
            var cursor = ""
            // Far more rounds than needed; each reads between nothing and a third.
            for _ in 0..<60 where positions.count < expected.count {
                // It never ends by itself, so no load keeps it from being killed.
                let program = try Program("subledger").start(
                    ["feed", "--follow", "--after", cursor],
                    environment: command.environment
                )
                var left = min(
                    Int.random(in: 0...expected.count / 3, using: &random),
                    expected.count - positions.count
                )
                for await _ in program.lines {
                    left -= 1
                    if left <= 0 { break }
                }
                program.signal(SIGKILL)
                let ending = await program.ending()
                #expect(ending.wasKilled, "\(ending.errors)")
                for line in ending.output.split(separator: "\n", omittingEmptySubsequences: false)
                    .dropLast()
                {
                    cursor = try FeedTests.cursor(line)
                    // Confirmations may come again.
                    guard let position = try FeedTests.object(line)["position"] else { continue }
                    positions.append("\(position)")
                }
            }
            let all = try expected.map { "\(try FeedTests.object($0)["position"] ?? "none")" }
            #expect(positions.count == all.count, "seed \(seed)")
            #expect(positions.sorted() == all.sorted(), "seed \(seed)")
            if lanes == 1 { #expect(positions == all, "seed \(seed)") }
        }
    }

    @Test func `a reader that stops early is not an error`() async throws {
        try await withSimulatedLedger { command in
            let (subledger, shell) = (try Program("subledger").path, Program(path: "/bin/sh"))
            for options in ["", "--follow"] {
                let ending = try await shell.run(
                    [
                        "-c",
                        "{ '\(subledger)' feed \(options); echo \"exit $?\" >&2; } | head -n 1",
                    ],
                    environment: command.environment
                )
                #expect(ending.output.split(separator: "\n").count == 1)
                #expect(ending.errors == "exit 0\n")
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `follow waits for new events, ignores repetitions, and ends on a signal`(
        signal: Int32
    ) async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payloads = try simulation.allPayloads()
        let parts = [payloads[..<60], payloads[60..<61], payloads[60...]].map {
            Array($0.joined(separator: [0x0a]))
        }
        try await withLedger { command, _ in
            let program = try Program("subledger").start(
                ["feed", "--follow", "--poll-interval", "0.05"],
                environment: command.environment
            )
            var lines = program.lines.makeAsyncIterator()
            var told = 0
            for (number, part) in parts.enumerated() {
                let file = try folder.write("\(number).ndjson", part)
                try await command.expect(0, simulation.arguments + [file])
                // Twice: only repetitions, which are no events.
                try await command.expect(0, simulation.arguments + [file])
                let events = Int(try await command.events())
                while told < events {
                    let line = try FeedTests.object(try #require(await lines.next()))
                    guard let position = line["position"] else { continue }
                    told += 1
                    #expect(position as? Int == told)
                }
            }
            #expect(program.isRunning)
            program.signal(signal)
            while let line = await lines.next() {
                #expect(try FeedTests.object(line)["kind"] as? String == "confirmation")
            }
            let ending = await program.ending()
            #expect(ending.code == 0 && !ending.wasKilled, "\(ending.errors)")
            #expect(ending.errors.isEmpty)
            let all = try await command.expect(0, "feed")
            #expect(try FeedTests.events(ending.output) == FeedTests.events(all))
        }
    }

    @Test func `follow ends at its limit`() async throws {
        try await withSimulatedLedger { command in
            let output = try await command.expect(0, "feed", "--follow", "--limit", "3")
            #expect(try FeedTests.events(output).count == 3)
        }
    }

    @Test func `a cursor of another log exits with 3, both digests and advice`() async throws {
        try await withSimulatedLedger { command in
            let line = try FeedTests.events(try await command.expect(0, "feed", "--limit", "1"))[0]
            let digest = try FeedTests.cursor(line).dropFirst("0:1:".count)
            let events = try await command.events()
            for (cursor, words) in [
                ("0:1:0123456789abcdef", ["lane 0", "commit 1", "0123456789abcdef", "\(digest)"]),
                ("0:\(events + 1):\(digest)", ["ahead of the log", "lane 0", "\(digest)"]),
                ("1:1:\(digest)", ["lane 1", "1 lane"]),
            ] {
                let ending = try await command.run("feed", "--after", cursor)
                #expect(ending.code == 3, "\(ending.errors)")
                #expect(ending.output.isEmpty)
                for word in words + ["without a cursor"] {
                    #expect(ending.errors.contains(word), "\(word): \(ending.errors)")
                }
            }
        }
    }

    /// The lines of events, without those of confirmations.
    static func events(_ output: String) throws -> [Substring] {
        try output.split(separator: "\n").filter { try object($0)["position"] != nil }
    }

    private static func object(_ line: some StringProtocol) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            "\(line)"
        )
    }

    static func cursor(_ line: some StringProtocol) throws -> String {
        try #require(try object(line)["cursor"] as? String)
    }
}

extension Command {
    /// Number of events in the log.
    fileprivate func events() async throws -> Int64 {
        try await json(VerifyDocument.self, "verify").events
    }
}
