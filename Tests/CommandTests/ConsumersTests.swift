import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

/// Named readers of the feed, and where `consumers` says that they are.
@Suite(.enabled { await TestServer.isAvailable })
struct ConsumersTests {
    private struct Place: Decodable {
        let consumer: String
        let stream: String
        let cursor: String
        let lagEvents: Int?
        let secondsSinceAcknowledged: Double
    }

    @Test func `a consumer of the feed continues where it stopped, and is listed`() async throws {
        try await withSimulatedLedger { command, settings in
            #expect(try await command.expect(0, "consumers").contains("no consumers"))
            let all = try FeedTests.events(try await command.expect(0, "feed"))
            let first = try await command.expect(0, "feed", "--consumer", "lake", "--limit", "7")
            func place() async throws -> Place {
                try #require(try await command.json([Place].self, "consumers").first)
            }
            let before = try await place()
            #expect(before.consumer == "lake" && before.stream == "events")
            #expect(before.lagEvents == all.count - 7 && before.secondsSinceAcknowledged >= 0)
            let last = try #require(first.split(separator: "\n").last)
            #expect(before.cursor == (try FeedTests.cursor(last)))
            let rest = try await command.expect(0, "feed", "--consumer", "lake")
            #expect(try FeedTests.events(first) + FeedTests.events(rest) == all)
            #expect(try await place().lagEvents == 0)

            // An effect stands for any number of events, so only the ends are known.
            try await command.expect(0, "effects", "--consumer", "mailer", "--limit", "1")
            let mailer = try #require(try await command.json([Place].self, "consumers").last)
            let lag = try #require(mailer.lagEvents)
            #expect(mailer.stream == "effects" && (1...all.count).contains(lag))
            try await command.expect(0, "effects", "--consumer", "mailer")
            #expect(try await command.json([Place].self, "consumers").last?.lagEvents == 0)

            for (reader, name) in [("feed", "mailer"), ("effects", "lake")] {
                let wrong = try await command.run(reader, "--consumer", name)
                #expect(wrong.code == 65 && wrong.output.isEmpty, "\(wrong.errors)")
                #expect(wrong.errors.contains("consumer \(name) reads "), "\(wrong.errors)")
            }
            #expect(try await command.expect(0, "consumers", "remove", "lake") == "removed lake\n")
            #expect(try await command.run("consumers", "remove", "lake").code == 4)
            let again = try await command.expect(0, "feed", "--consumer", "lake")
            #expect(try FeedTests.events(again) == all)
            try await expectWarning(command, settings)
        }
    }

    private func expectWarning(_ command: Command, _ settings: ConnectionSettings) async throws {
        let session = try await PostgresSession.connect(settings)
        let moving = try await command.run("doctor")
        #expect(moving.output.contains("2 consumers, none stopped"), "\(moving.output)")
        try await session.execute(
            """
            UPDATE operation.consumer SET acknowledged_at = now() - interval '25 hours', cursor = ''
            WHERE name = 'lake'
            """
        )
        await session.close()
        let stopped = try await command.run("doctor")
        #expect(stopped.output.contains("lake has not moved for"), "\(stopped.output)")
        #expect(stopped.output.contains("start its reader again"), "\(stopped.output)")
    }

    /// Killed after some lines, several times.
    @Test(arguments: [1, 4])
    func `a killed consumer of the feed misses nothing, and one at a time reads`(
        lanes: Int
    ) async throws {
        try await withSimulatedLedger(lanes: lanes) { command in
            let expected = try FeedTests.events(try await command.expect(0, "feed"))
            var seen: Set<String> = []
            for round in 1...4 {
                let program = try Program("subledger").start(
                    ["feed", "--follow", "--consumer", "lake"],
                    environment: command.environment
                )
                var left = min(round * 20, expected.count - seen.count)
                if left > 0 {
                    for await _ in program.lines {
                        left -= 1
                        if left == 0 { break }
                    }
                }
                if round == 1 {
                    let second = try await command.run("feed", "--consumer", "lake")
                    #expect(second.code == 75, "\(second.errors)")
                    let removing = try await command.run("consumers", "remove", "lake")
                    #expect(removing.code == 75, "\(removing.errors)")
                }
                program.signal(SIGKILL)
                let ending = await program.ending()
                let lines = ending.output.split(separator: "\n", omittingEmptySubsequences: false)
                seen.formUnion(try Self.positions(lines.dropLast()))
            }
            // The server notices the end of the last one's session in its own time.
            var rest = try await command.run("feed", "--consumer", "lake")
            try await eventually("the name is free") {
                if rest.code == 75 { rest = try await command.run("feed", "--consumer", "lake") }
                return rest.code == 0
            }
            seen.formUnion(try Self.positions(rest.output.split(separator: "\n")[...]))
            #expect(seen.count == expected.count)
        }
    }

    @Test func `lines as CloudEvents contain the plain lines, under ids that stay`() async throws {
        try await withSimulatedLedger { command in
            for reader in ["feed", "effects"] {
                let plain = reader == "feed" ? [] : ["--json"]
                let lines = try await command.expect(0, [reader] + plain)
                    .split(separator: "\n").map(Self.object)
                let events = try await command.expect(0, [reader, "--format", "cloudevents"])
                    .split(separator: "\n").map(Self.object)
                #expect(lines.count == events.count && !lines.isEmpty)
                for (line, event) in zip(lines, events) {
                    #expect(event["specversion"] as? String == "1.0")
                    #expect(event["datacontenttype"] as? String == "application/json")
                    #expect((event["source"] as? String)?.hasPrefix("urn:uuid:") == true)
                    let kind = line["effect"] ?? line["kind"]
                    let word = reader == "feed" ? "event" : "effect"
                    #expect(event["type"] as? String == "subledger.\(word).\(kind ?? "")")
                    let id = line["originalTransactionId"] as? String
                    #expect(event["subject"] as? String == (id == "" ? nil : id))
                    #expect("\(event["time"] ?? "")".wholeMatch(of: /\d{4}-.*T.*Z/) != nil)
                    let data = try #require(event["data"] as? [String: Any])
                    #expect(NSDictionary(dictionary: data) == NSDictionary(dictionary: line))
                }
                let ids = events.compactMap { $0["id"] as? String }
                #expect(Set(ids).count == events.count)
                // Whoever begins elsewhere gets the same ids.
                let cursor = try #require(lines[lines.count / 2]["cursor"] as? String)
                let rest = try await command.expect(
                    0,
                    [reader, "--format", "cloudevents", "--after", cursor]
                ).split(separator: "\n").map { try Self.object($0)["id"] as? String ?? "" }
                #expect(Set(rest).isSubset(of: ids) && rest.last == ids.last)
            }
        }
    }

    // Of events; confirmations have none.
    private static func positions(_ lines: ArraySlice<Substring>) throws -> Set<String> {
        Set(try lines.compactMap { try object($0)["position"].map { "\($0)" } })
    }

    private static func object(_ line: Substring) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            "\(line)"
        )
    }
}
