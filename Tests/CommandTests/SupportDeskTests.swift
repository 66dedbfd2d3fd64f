import EventLog
import Events
import Foundation
import TestSupport
import Testing

/// What a support desk asks, on a ledger of simulated customers.
@Suite(.enabled { await TestServer.isAvailable })
struct SupportDeskTests {
    @Test func `everything of a customer is exported, and each event's payload is there`()
        async throws
    {
        try await withStreams { command, folder, ids in
            let place = folder.path(of: "person")
            let output = try await command.expect(0, "customers", "export", ids[0], "--to", place)
            #expect(output.contains("subscription"), "\(output)")
            let there = try FileManager.default.subpathsOfDirectory(atPath: place)
            for name in [
                "README.txt", "access.txt", "access.json", "explain.txt", "charges.json",
                "subscriptions/\(ids[0])/history.json", "subscriptions/\(ids[0])/periods.txt",
            ] {
                #expect(there.contains(name), "\(name): \(there)")
            }
            let text = try Self.text(place, "subscriptions/\(ids[0])/history.json")
            let history = try JSONDecoder().decode(HistoryLines.self, from: Data(text.utf8))
            #expect(!history.events.isEmpty)
            for event in history.events {
                let digest = try #require(event.evidence)
                let bytes = try Data(
                    contentsOf: URL(fileURLWithPath: "\(place)/evidence/\(digest)")
                )
                #expect(Digest.of(Array(bytes)).hex == digest)
            }
            let mode = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions]
            #expect(mode as? Int == 0o700)
            let again = try await command.run("customers", "export", ids[0], "--to", place)
            #expect(again.code == 65 && again.errors.contains("exists already"), "\(again.errors)")
        }
    }

    @Test func `an export names the order ids that were asked about`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        try await withLedger { command, settings in
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let log = try await EventLog.open(settings)
            let stream = try #require(
                try await log.streams().map(\.stream).first { $0.environment == .production }
            )
            try await log.record(try #require(OrderID("MK5TS1XYZ7")), of: [stream])
            await log.close()
            let place = folder.path(of: "person")
            try await command.expect(0, "customers", "export", "mk5ts1xyz7", "--to", place)
            #expect(try Self.text(place, "README.txt").contains("asked about: MK5TS1XYZ7."))
        }
    }

    @Test func `an export names the events whose payloads were erased`() async throws {
        try await withStreams { command, folder, ids in
            try await command.expect(0, "customers", "link", "anna", ids[0])
            try await command.expect(
                0,
                "erase",
                "customer",
                "anna",
                "--reason",
                "asked",
                "--by",
                "ops"
            )
            let place = folder.path(of: "person")
            try await command.expect(0, "customers", "export", ids[0], "--to", place)
            #expect(try Self.text(place, "README.txt").contains("without a payload: the events "))
        }
    }

    @Test func `answers write times in the zone that --tz names, and JSON stays the same`()
        async throws
    {
        try await withStreams { command, _, ids in
            let utc = try await command.expect(0, "periods", ids[0])
            let tokyo = try await command.expect(0, "periods", ids[0], "--tz", "Asia/Tokyo")
            #expect(utc.contains(" · UTC\n") && tokyo.contains(" · Asia/Tokyo\n"), "\(tokyo)")
            let period = /(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/
            let (first, shifted) = (
                try #require(utc.firstMatch(of: period)), try #require(tokyo.firstMatch(of: period))
            )
            let instants = try [first, shifted].map { match in
                try #require(Instant(String(match.1).replacing(" ", with: "T") + "Z"))
            }
            #expect(instants[1].milliseconds - instants[0].milliseconds == 9 * 3_600_000)
            #expect(
                try await command.expect(0, "periods", ids[0], "--json")
                    == command.expect(0, "periods", ids[0], "--json", "--tz", "Asia/Tokyo")
            )
        }
    }

    @Test func `a pasted id is read without what surrounds it, and stderr says so`() async throws {
        try await withStreams { command, _, ids in
            for words in [
                ["periods"], ["access"], ["explain"], ["charges"], ["customers", "show"],
            ] {
                let pasted = try await command.run(words + ["#\(ids[0])."])
                #expect(
                    pasted.errors.contains("answered for \(ids[0])"),
                    "\(words): \(pasted.errors)"
                )
                #expect(pasted.output.contains(ids[0]))
            }
            let unknown = try await command.run("periods", "#4711")
            #expect(unknown.code == 4 && unknown.errors.contains("#4711"), "\(unknown.errors)")
        }
    }

    @Test func `links are imported from an export with other columns and names`() async throws {
        try await withStreams { command, folder, ids in
            let wide = String(repeating: "r", count: 20_000)
            let export =
                "app_user_id,email,Original Transaction ID,receipt\nanna,a@example.com,\(ids[0]),\(wide)\n"
            let file = try folder.write("export.csv", Data(export.utf8))
            let taken = try await command.run("customers", "import", file)
            #expect(taken.code == 0 && taken.output.hasPrefix("1 line: 1 link appended"))
            #expect(
                taken.errors.contains(
                    "columns used: app_user_id as customer, Original Transaction ID as id; left out: 2"
                ),
                "\(taken.errors)"
            )
            let other = try folder.write(
                "other.csv",
                Data("memberNo,id\nben,\(ids[1])\n".utf8)
            )
            #expect(try await command.run("customers", "import", other).code == 65)
            try await command.expect(
                0,
                "customers",
                "import",
                other,
                "--column",
                "customer=memberNo"
            )
            #expect(try await command.expect(0, "customers", "show", "ben").contains(ids[1]))
        }
    }

    private struct HistoryLines: Decodable {
        struct Line: Decodable { let evidence: String? }
        let events: [Line]
    }

    private static func text(_ folder: String, _ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
}
