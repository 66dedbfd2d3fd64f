import Foundation
import Postgres
import TestSupport
import Testing

/// The reason for this ledger, with commands only: a wrong fold is found, repaired and promoted.
@Suite(.enabled { await TestServer.isAvailable })
struct RebuildStoryTests {
    @Test func `a wrong fold is repaired in separate tables, and exactly its victims are shown`()
        async throws
    {
        try await withLedger { command, settings in
            let story = try await Story(command: command, settings: settings)
            try await story.ingest(story.parts[0])
            try await story.oldProgram("rebuild")
            try await story.ingest(story.parts[1])
            try await story.oldProgram("follow")
            let overlaps = try await settings.number(Story.overlaps)
            #expect(overlaps > 0, "the old fold does nothing wrong")

            let refusal = try await command.run("follow", "--once")
            #expect(refusal.code == 4)
            let version = foldVersion(of: "active_periods")
            let words = "active_periods has fold version 0, this program \(version)"
            #expect(refusal.errors.contains(words))

            let live = try #require(try await story.tables().first { $0.state == "live" })
            let victims = try await story.upgraded(knownAt: live.positions["0"] ?? 0)
            #expect(!victims.isEmpty && victims.count < Int(live.rows))
            async let appending: Void = story.ingest(story.parts[2])
            let difference = try await command.json(
                DiffDocument.self,
                "tables",
                "diff",
                "active_periods",
                "--samples",
                "1000",
                "--quiet"
            )
            try await appending
            #expect(Set(difference.samples.map(\.originalTransactionId)) == victims)
            #expect(difference.streamsChanged == victims.count)
            #expect(!difference.equal && difference.access.gainedMs == 0)
            #expect(try await settings.number(Story.overlaps) == overlaps, "nothing is live yet")

            try await story.promoteUnderReaders()
            try await command.expect(0, "follow", "--once", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
            #expect(try await settings.number(Story.overlaps) == 0)
            try await command.expectSoundLog()
            try await story.expectTableTellsPeriods()
        }
    }

    @Test func `a difference writes a page that needs no other file`() async throws {
        try await withSimulatedLedger { command in
            let folder = try TestFolder()
            let page = folder.path(of: "difference.html")
            let policy = folder.path(of: "policy.json")
            try Data("{\"graceCounts\":false}".utf8).write(to: URL(fileURLWithPath: policy))
            try await command.expect(0, "rebuild", "--quiet")
            let text = try await command.expect(
                0,
                ["rebuild", "--with", policy, "--html", page, "--quiet"]
            )
            #expect(text.contains("active_periods"))
            // The new side is explained with the policy that created it.
            let told = text.split(separator: "\n").filter {
                $0.hasPrefix("  new     no access since ")
            }
            #expect(!told.isEmpty && told.allSatisfy { $0.contains(": ") }, "\(told)")
            let html = try String(contentsOfFile: page, encoding: .utf8)
            #expect(html.contains("<svg") && html.contains("</html>"))
            #expect(!html.contains("src=\"http") && !html.contains("<script"))
            // A what-if leaves nothing behind.
            try await command.expect(0, "tables", "check", "--quiet")
            let tables = try await command.json([TableLine].self, "tables")
            #expect(Set(tables.map(\.state)) == ["live"])
        }
    }

    @Test func `options that cannot be combined are refused with the reason`() async throws {
        let command = Command(environment: ["DATABASE_URL": "postgresql://127.0.0.1:1/none"])
        for (arguments, words) in [
            (["tables", "diff", "--into", "next", "--promote"], "not promoted"),
            (["tables", "discard", "refunds", "--schema", "next"], "leave the names out"),
            (["rebuild", "--to", "17"], "--to requires --into"),
            (
                ["rebuild", "--into", "next", "--to", "17", "--with", "p.json"],
                "--to cannot be combined with --with"
            ),
            (["rebuild", "--html", "page.html"], "--samples require --with"),
            (["tables", "diff", "--samples=-1"], "from 0 to"),
        ] {
            let ending = try await command.run(arguments)
            #expect(ending.code == 64, "\(arguments): \(ending.errors)")
            #expect(ending.errors.contains(words), "\(arguments): \(ending.errors)")
        }
    }
}

/// A ledger whose payloads arrive in three parts.
private struct Story: Sendable {
    let command: Command
    let settings: ConnectionSettings
    let folder: TestFolder
    let parts: [String]

    /// Pairs of overlapping periods in one subscription: those that an upgrade must end.
    static let overlaps = """
        SELECT count(*) FROM projection.active_periods a JOIN projection.active_periods b
            USING (lane, environment, original_transaction_id)
        WHERE a.ordinal < b.ordinal AND a.valid_from < b.valid_to
            AND b.valid_from < a.valid_to AND a.kind <> 'grace' AND b.kind <> 'grace'
        """

    init(command: Command, settings: ConnectionSettings) async throws {
        self.command = command
        self.settings = settings
        folder = try TestFolder()
        let payloads = try await Simulation.shared.allPayloads()
        var parts: [String] = []
        for number in 0..<3 {
            let path = folder.path(of: "part\(number).ndjson")
            let part = payloads[payloads.count * number / 3..<payloads.count * (number + 1) / 3]
            let text = part.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            parts.append(path)
        }
        self.parts = parts
    }

    func ingest(_ part: String) async throws {
        try await command.expect(0, try await Simulation.shared.arguments + [part])
    }

    func oldProgram(_ argument: String) async throws {
        let ending = try await Program("OldProgram").run(
            [argument],
            environment: command.environment
        )
        #expect(ending.code == 0, "\(ending.errors)")
    }

    func tables() async throws -> [TableLine] {
        try await command.json([TableLine].self, "tables")
    }

    /// The subscriptions with an upgraded period, according to the fold of one stream.
    func upgraded(knownAt offset: Int64) async throws -> Set<String> {
        var upgraded: Set<String> = []
        for stream in try await command.json([StreamLine].self, "streams") {
            let ending = try await command.run(
                "periods",
                stream.originalTransactionId,
                "--json",
                "--environment",
                stream.environment,
                "--known-at",
                "\(offset)"
            )
            if ending.output.contains("\"endReason\":\"upgraded\"") {
                upgraded.insert(stream.originalTransactionId)
            }
        }
        return upgraded
    }

    /// Promotes while another session reads the view repeatedly.
    func promoteUnderReaders() async throws {
        let promoting = Task {
            try await command.expect(0, "tables", "promote", "--json", "--quiet")
        }
        let session = try await PostgresSession.connect(settings)
        let isDone = Task { try await promoting.value }
        var reads = 0
        repeat {
            let counted = try await session.query("SELECT count(*) FROM projection.active_periods")
            #expect(try counted.single().int8(0) > 0)
            reads += 1
        } while try await settings.number(
            "SELECT count(*) FROM projection.ledger_projection WHERE state = 'ready'"
        ) > 0
        await session.close()
        #expect(try await isDone.value.contains("\"lockMilliseconds\":"))
        #expect(reads > 0)
    }

    /// Compares the table with the fold of each stream.
    func expectTableTellsPeriods() async throws {
        for stream in try await command.json([StreamLine].self, "streams") {
            let periods = try await command.json(
                PeriodsOfStream.self,
                "periods",
                stream.originalTransactionId,
                "--environment",
                stream.environment
            )
            let rows = try await settings.number(
                """
                SELECT count(*) FROM projection.active_periods
                WHERE original_transaction_id = '\(stream.originalTransactionId)'
                    AND environment = '\(stream.environment)'
                """
            )
            #expect(Int64(periods.periods.count) == rows, "\(stream.originalTransactionId)")
        }
    }
}

/// A line of `projections --json`.
struct TableLine: Decodable {
    let name: String
    let state: String
    let schema: String
    let positions: [String: Int64]
    let lag: Int64
    let rows: Int64
    let digest: String
}

private struct PeriodsOfStream: Decodable {
    let periods: [Period]

    struct Period: Decodable { let endReason: String }
}

private struct DiffDocument: Decodable {
    let equal: Bool
    let streamsChanged: Int
    let access: Access
    let samples: [Sample]

    struct Access: Decodable { let gainedMs: Int64 }
    struct Sample: Decodable { let originalTransactionId: String }
}
