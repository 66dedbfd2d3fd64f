import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// A later statement that takes an extension back, from the payload to every answer.
@Suite(.enabled { await TestServer.isAvailable })
struct ExtensionTakenBackTests {
    private static let id = "9100000036000"

    /// A purchase of 2025-03-01, stated on a day to end on another.
    private static func stated(on day: String, until end: String) throws -> [UInt8] {
        func milliseconds(_ day: String) throws -> Int64 {
            try #require(Instant(day)).milliseconds
        }
        let text = """
            {"transactionId":"\(id)","originalTransactionId":"\(id)","bundleId":"com.example",\
            "productId":"pro.monthly","purchaseDate":\(try milliseconds("2025-03-01")),\
            "expiresDate":\(try milliseconds(end)),"type":"Auto-Renewable Subscription",\
            "signedDate":\(try milliseconds(day)),"environment":"Production"}
            """
        return Array("\(text)\n".utf8)
    }

    @Test func `it is counted, fed to followers, shown in history and reported, and ends access`()
        async throws
    {
        let folder = try TestFolder()
        let files = try [
            ("2025-03-01", "2025-04-01"), ("2025-03-20", "2025-04-15"),
            ("2025-03-25", "2025-04-01"),
        ].map { day, end in
            try folder.write("\(day).json", try Self.stated(on: day, until: end))
        }
        let access = ["access", Self.id, "--at", "2025-04-10"]
        try await withLedger { command, settings in
            for file in files.dropLast() {
                #expect(try await command.ingest("--vouch", file).appended == 1)
            }
            try await command.expect(0, access)
            try await command.expect(0, ["rebuild", "--quiet"])
            #expect(try await Self.ends(settings) == ["2025-04-15"])
            let fed = try await command.expect(0, ["feed"]).split(separator: "\n")
            let newest = try #require(fed.last)
            let cursor = try #require(try Self.member("cursor", of: newest))

            let report = try await command.ingest("--vouch", files[2])
            #expect(report.appended == 1 && report.duplicates == 0)
            try await command.expect(1, access)
            let next = try await command.expect(0, ["feed", "--after", cursor])
                .split(separator: "\n")
            #expect(next.count == 1)
            let line = try #require(next.first)
            #expect(try Self.member("asOf", of: line) == "1742860800000")
            let history = try await command.expect(0, ["history", Self.id, "--json"])
            let document = try JSONSerialization.jsonObject(with: Data(history.utf8))
            let events = (document as? [String: Any])?["events"] as? [[String: Any]]
            #expect(events?.count == 3)
            #expect(events?.last?["expiresDate"] as? Int == 1_743_465_600_000)
            try await command.expect(0, ["follow", "--once", "--quiet"])
            #expect(try await Self.ends(settings) == ["2025-04-01"], "followed")
            try await command.expect(0, ["tables", "check", "--quiet"])
            let anomalies = try await command.expect(0, ["report", "anomalies"])
            #expect(anomalies.contains("1 extension_taken_back"), "\(anomalies)")
            // As known before it, access is what it was.
            try await command.expect(0, access + ["--known-at", "2"])

            // Everything again, in whatever order, adds nothing.
            for file in files.reversed() {
                #expect(try await command.ingest("--vouch", file).appended == 0)
            }
            try await command.expectSoundLog(events: 3)
        }
    }

    private static func member(_ name: String, of line: Substring) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?[name].map { "\($0)" }
    }

    private static func ends(_ settings: ConnectionSettings) async throws -> [String] {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(
            """
            SELECT to_char(valid_to AT TIME ZONE 'UTC', 'YYYY-MM-DD')
            FROM projection.active_periods ORDER BY 1
            """
        )
        await session.close()
        return try rows.map { try $0.text(0) }
    }
}
