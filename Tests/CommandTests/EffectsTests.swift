import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// `effects` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct EffectsTests {
    @Test func `limit ends the effects, and the last cursor continues after it`() async throws {
        try await withSimulatedLedger { command in
            let all = try await command.expect(0, "effects", "--json").split(separator: "\n")
            #expect(all.count > 100)
            var (parts, cursor): ([Substring], String) = ([], "")
            for limit in ["1", "7", "499", "1000000", "1"] {
                let part = try await command.expect(
                    0,
                    "effects",
                    "--json",
                    "--after",
                    cursor,
                    "--limit",
                    limit
                )
                let lines = part.split(separator: "\n")
                parts += lines
                cursor = try lines.last.map(Self.cursor) ?? cursor
            }
            #expect(parts == all)
            #expect(try await command.expect(0, "effects", "--after", "end").isEmpty)
            let lines = try await command.expect(0, "effects").split(separator: "\n")
            #expect(lines.count == all.count)
        }
    }

    /// Twenty followers of one name, each killed after some lines.
    @Test(arguments: [1, 4])
    func `a consumer killed twenty times misses no effect and repeats none that it acknowledged`(
        lanes: Int
    ) async throws {
        let seed = UInt64(20_261_128 + lanes)
        var random = SeededGenerator(seed: seed)
        try await Self.withLedger(lanes: lanes) { command, settings in
            let expected = try await command.expect(0, "effects", "--json").split(separator: "\n")
                .map { try Self.identity($0) }
            var seen: [String] = []
            for round in 0..<20 {
                let program = try Program("subledger").start(
                    ["effects", "--json", "--follow", "--consumer", "mailer"],
                    environment: command.environment
                )
                var left = min(
                    Int.random(in: 1...max(1, expected.count / 15), using: &random),
                    expected.count - Set(seen).count
                )
                if left > 0 {
                    for await _ in program.lines {
                        left -= 1
                        if left == 0 { break }
                    }
                }
                program.signal(SIGKILL)
                let ending = await program.ending()
                #expect(ending.wasKilled, "\(ending.errors)")
                // The server may still store the last acknowledgement of the killed process.
                try await eventually("the server has ended the killed one's session") {
                    try await settings.number(
                        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                            + "(SELECT oid FROM pg_database WHERE datname = current_database())"
                    ) == 0
                }
                let lines = ending.output.split(separator: "\n", omittingEmptySubsequences: false)
                    .dropLast()
                let stored = try await Self.stored(settings)
                // What was acknowledged was written before.
                let names = try lines.map { try Self.identity($0) }
                let acknowledged = try lines.lastIndex { try Self.cursor($0) == stored }
                #expect(
                    acknowledged != nil || round > 0 || stored.isEmpty,
                    "seed \(seed), round \(round)"
                )
                // Nothing comes again that was acknowledged in an earlier round.
                #expect(Set(names).isDisjoint(with: seen), "seed \(seed), round \(round)")
                seen += acknowledged.map { names[...$0] } ?? []
            }
            let rest = try await command.expect(0, "effects", "--json", "--consumer", "mailer")
            seen += try rest.split(separator: "\n").map { try Self.identity($0) }
            #expect(seen.count == expected.count, "seed \(seed)")
            #expect(seen.sorted() == expected.sorted(), "seed \(seed)")
            if lanes == 1 { #expect(seen == expected, "seed \(seed)") }
        }
    }

    @Test func `a second reader of a name exits with 75, and one that follows waits for it`()
        async throws
    {
        try await withSimulatedLedger { command, settings in
            let first = try Program("subledger").start(
                ["effects", "--follow", "--consumer", "mailer", "--limit", "100000"],
                environment: command.environment
            )
            var lines = first.lines.makeAsyncIterator()
            _ = try #require(await lines.next())
            let second = try await command.run("effects", "--consumer", "mailer")
            #expect(second.code == 75 && second.output.isEmpty)
            #expect(second.errors.contains("another process reads as consumer mailer"))
            let heir = try Program("subledger").start(
                ["effects", "--follow", "--consumer", "mailer"],
                environment: command.environment
            )
            try await eventually("everything is acknowledged") {
                let end = try await command.expect(0, "effects", "--json").split(separator: "\n")
                return try await Self.stored(settings) == Self.cursor(try #require(end.last))
            }
            first.signal(SIGTERM)
            while await lines.next() != nil {}
            #expect(await first.ending().code == 0)
            // A link is an effect that only the heir can print.
            let stream = try #require(try await command.json([StreamLine].self, "streams").first)
            try await command.expect(
                0,
                "customers",
                "link",
                "anna",
                stream.originalTransactionId,
                "--environment",
                stream.environment,
                "--reason",
                "test",
                "--by",
                "test"
            )
            var heard = heir.lines.makeAsyncIterator()
            #expect(try #require(await heard.next()).contains("linked: anna"))
            heir.signal(SIGINT)
            while await heard.next() != nil {}
            let ending = await heir.ending()
            #expect(ending.code == 0 && ending.errors.contains("retrying"), "\(ending.errors)")
        }
    }

    @Test func `a cursor of another log exits with 3`() async throws {
        try await withSimulatedLedger { command in
            let line = try await command.expect(0, "effects", "--json", "--limit", "1")
            let digest = try Self.cursor(line).dropFirst("0:1:".count).prefix(16)
            for (cursor, words) in [
                ("0:1:0123456789abcdef", ["lane 0", "commit 1", "0123456789abcdef", "\(digest)"]),
                ("0:1000000:\(digest)", ["ahead of the log", "lane 0", "\(digest)"]),
                ("1:1:\(digest)", ["lane 1", "1 lane"]),
            ] {
                let ending = try await command.run("effects", "--after", cursor)
                #expect(ending.code == 3 && ending.output.isEmpty, "\(ending.errors)")
                for word in words { #expect(ending.errors.contains(word), "\(ending.errors)") }
            }
        }
    }

    private static func withLedger(
        lanes: Int,
        _ body: (Command, ConnectionSettings) async throws -> Void
    ) async throws {
        guard lanes > 1 else { return try await withSimulatedLedger(body) }
        let simulation = try await Simulation.shared
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            try await command.expect(0, "migrate", "--lanes", "\(lanes)")
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await body(command, settings)
        }
    }

    /// The cursor that the database keeps; empty if there is none.
    private static func stored(_ settings: ConnectionSettings) async throws -> String {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query("SELECT cursor FROM operation.consumer")
        await session.close()
        return rows.isEmpty ? "" : try rows[0].text(0)
    }

    /// A line without its cursor, which names the places of all lanes.
    private static func identity(_ line: some StringProtocol) throws -> String {
        var document = try object(line)
        document["cursor"] = nil
        let data = try JSONSerialization.data(withJSONObject: document, options: .sortedKeys)
        return String(decoding: data, as: UTF8.self)
    }

    private static func object(_ line: some StringProtocol) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            "\(line)"
        )
    }

    private static func cursor(_ line: some StringProtocol) throws -> String {
        try #require(try object(line)["cursor"] as? String)
    }
}
