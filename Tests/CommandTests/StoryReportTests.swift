import AppStoreSimulator
import Events
import Foundation
import Subledger
import TestSupport
import Testing

/// Reports over the simulator's stories of 2026: seats that are sold, taken back and assigned, and
/// retention offers.
@Suite(.enabled { await TestServer.isAvailable })
struct StoryReportTests {
    /// Two purchasers and two members, on the last days of January and February.
    @Test func `the seats that were sold, assigned and free are those of the stories`() async throws
    {
        let stories: [SimulatedStory] = [
            .seatsAddedAndReduced, .developerUnclaims, .organisationAssigns, .allSeatsRefunded,
        ]
        try await Self.withStories(stories) { command in
            let days = ["report", "seats", "--from", "2026-01-01", "--to", "2026-02-28"]
            let expected = [
                // 8 bought and 4 added; both members have a seat.
                "2026-01-31 APPLE 1 12 2 10", "2026-01-31 DEVELOPER 1 5 - -",
                // Renewed with 6 and with 3; one seat was taken back. Apple signed nothing later.
                "2026-02-20 APPLE 1 6 1 5", "2026-02-20 DEVELOPER 1 3 - -",
            ]
            let daysRows = try await Self.rows(command, days)
            #expect(daysRows == expected)
            let countries = try await command.expect(0, days + ["--by", "country", "--csv"])
            #expect(countries.contains("country,day,invitation_management,"), "\(countries)")
            let text = try await command.expect(0, days)
            for row in ["APPLE *1 *12 *2 *10", "DEVELOPER *1 *3 *"] {
                let pattern = try Regex(row)
                #expect(text.contains(pattern), "\(row) in \(text)")
            }
            // As known at the newest position, the log itself is folded.
            let position = try await command.expect(0, ["verify", "--json"])
            let newest = try JSONDecoder().decode(
                VerifyDocument.self,
                from: Data(position.utf8)
            ).events
            let known = try await Self.rows(command, days + ["--known-at", "\(newest)"])
            #expect(known == expected)
        }
    }

    @Test func `single seats that are refunded are not sold`() async throws {
        try await Self.withStories([.seatsRefunded]) { command in
            let days = ["report", "seats", "--from", "2026-01-01", "--to", "2026-01-31"]
            let daysRows = try await Self.rows(command, days)
            #expect(daysRows == ["2026-01-31 APPLE 1 9 0 9"])
            let early = ["report", "seats", "--from", "2026-01-01", "--to", "2026-01-10"]
            let earlyRows = try await Self.rows(command, early)
            #expect(earlyRows == ["2026-01-10 APPLE 1 12 0 12"])
        }
    }

    @Test func `the free seats of an organisation that bought them elsewhere are not known`()
        async throws
    {
        try await Self.withStories([.organisationAssigns]) { command in
            let days = ["report", "seats", "--from", "2026-01-01", "--to", "2026-01-31"]
            let daysRows = try await Self.rows(command, days)
            #expect(daysRows == ["2026-01-31 APPLE 0 0 2 -"])
            let text = try await command.expect(0, days)
            #expect(!text.contains("-2"), "\(text)")
        }
    }

    @Test func `money by kind of offer names a retention offer`() async throws {
        try await Self.withStories([.retentionOffer]) { command in
            let report = ["report", "revenue", "--by", "offer", "--csv"]
            let days = ["--from", "2026-01-01", "--to", "2026-03-31"]
            let rows = try await command.expect(0, report + days)
                .split(whereSeparator: \.isNewline)
            #expect(rows.contains { $0.hasPrefix("retention,") }, "\(rows)")
            #expect(!rows.contains { $0.hasPrefix("unknown,") }, "\(rows)")
        }
    }

    @Test func `changes shows the moves between a bundle and what is sold alone, from each side`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: 36)
        let start = try #require(Instant("2026-01-01"))
        let ids = simulator.lives(of: .intoBundleAndOut, from: start).map(\.originalTransactionId)
        try await Self.withStories([.intoBundleAndOut]) { command in
            let expected = [
                ["\(ids[0])→\(ids[1])"], ["\(ids[0])→\(ids[1])", "\(ids[1])→\(ids[2])"],
                ["\(ids[1])→\(ids[2])"],
            ]
            for (id, moves) in zip(ids, expected) {
                let answer = try await command.json(ChangesDocument.self, "changes", id)
                let found = answer.moves.map {
                    "\($0.fromOriginalTransactionId)→\($0.toOriginalTransactionId)"
                }
                #expect(found == moves, "\(id)")
                let text = try await command.expect(0, "changes", id)
                #expect(text.contains("in the bundle example.subledger.office"), "\(text)")
            }
            let early = try await command.json(
                ChangesDocument.self,
                "changes",
                ids[1],
                "--at",
                "2026-01-20"
            )
            #expect(early.moves.count == 1)
        }
    }

    // The rows of the JSON answer, each as a line.
    private static func rows(_ command: Command, _ arguments: [String]) async throws -> [String] {
        let output = try await command.expect(0, arguments + ["--json"])
        let report = try JSONDecoder().decode(ReportDocument.self, from: Data(output.utf8))
        let names = [
            "day", "invitationManagement", "subscriptionsCount", "seatsSold", "seatsAssigned",
            "seatsFree",
        ]
        return report.rows.map { row in
            names.map { name in
                switch row[name] {
                case .text(let text): text
                case .integer(let number): "\(number)"
                default: "-"
                }
            }
            .joined(separator: " ")
        }
    }

    private static func withStories(
        _ stories: [SimulatedStory],
        _ body: (Command) async throws -> Void
    ) async throws {
        let simulator = AppStoreSimulator(seed: 36)
        let start = try #require(Instant("2026-01-01"))
        let folder = try TestFolder()
        let root = try folder.write("root.der", simulator.store.pki.rootDER)
        let lives = stories.flatMap { simulator.lives(of: $0, from: start) }
        let lines = lives.flatMap { $0.notifications() }.map(\.payload)
        let file = try folder.write("stories.ndjson", Array(lines.joined(separator: [0x0a])))
        try await withLedger { command, _ in
            try await command.expect(
                0,
                ["ingest", "--quiet", "--root-certificate", root, file]
            )
            try await command.expect(0, ["rebuild", "--quiet"])
            try await body(command)
        }
    }
}
