import Foundation
import Postgres
import TestSupport
import Testing

/// An independent reader of the log: a script that shares no code with ours prints the same
/// history.
@Suite(.enabled { await TestServer.isAvailable })
struct ReadLogTests {
    @Test func `read_log.py prints the same as history from the tables alone`() async throws {
        let simulation = try await Simulation.shared
        try await withLedger { command, settings in
            let ingest = simulation.arguments + [simulation.payloads]
            try await command.expect(0, ingest)
            try await Self.link(command, settings)
            let folder = try TestFolder()
            let catalog = try folder.write("catalog.json", Array(#"{"products":[]}"#.utf8))
            try await command.expect(
                0,
                "catalog",
                "import",
                catalog,
                "--effective-from",
                "2020-01-01T00:00:00Z"
            )
            let ids = try await Self.ids(settings) + ["catalog"]
            #expect(ids.count > 20)
            #expect(try await Self.confirmations(of: ids, command) > 0)
            let printed = try await command.expect(0, "history", "catalog")
            #expect(printed.contains("2020-01-01"), "\(printed)")
            let payloads = try await Self.read(ids[0], command, "--payloads")
            #expect(payloads.contains("\"payload\":\"eyJ"))
        }
    }

    /// The scripts are older than these products: the log's form did not change with them.
    @Test func `both scripts read a log with seats, bundles and retention offers`() async throws {
        let folder = try TestFolder()
        let payloads = folder.path(of: "store")
        try await withLedger { command, settings in
            try await command.expect(
                0,
                [
                    "simulate", "--quiet", "--subscriptions", "20", "--seed", "36", "--extras",
                    "all", "--format", "v2,history", "--out", payloads,
                ]
            )
            let root = "\(payloads)/root.der"
            let report = try await command.ingest("--root-certificate", root, payloads)
            #expect(report.rejected == 0 && report.appended > 100)
            let ids = try await Self.ids(settings)
            #expect(try await Self.confirmations(of: ids, command) > 0)
            let facts = try await command.expect(0, "feed")
            for member in ["multiSeatInfo", "renewalQuantity", "bundleProductId"] {
                #expect(facts.contains(member), "\(member)")
            }
            #expect(try await VerifyScript.code(settings) == 0)
            try await command.expect(0, "verify", "--signatures", "--root-certificate", root)
        }
    }

    // Compares what the script and the program print; returns how many confirmations there are.
    private static func confirmations(of ids: [String], _ command: Command) async throws -> Int {
        var confirmations = 0
        for id in ids {
            let ours = try tree(try await command.expect(0, "history", id, "--json"))
            let theirs = try tree(try await read(id, command))
            #expect(ours == theirs, "history of \(id)")
            confirmations += count("confirmations", in: ours)
        }
        return confirmations
    }

    // An operator's link next to Apple's statements.
    private static func link(
        _ command: Command,
        _ settings: ConnectionSettings
    ) async throws {
        let id = try await ids(settings)[0]
        try await command.expect(0, "customers", "link", "anna \"é\"", id, "--reason", "a call")
    }

    private static func ids(_ settings: ConnectionSettings) async throws -> [String] {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(
            """
            SELECT original_transaction_id FROM ledger.event
            WHERE environment <> '' AND original_transaction_id <> ''
            GROUP BY 1 HAVING count(DISTINCT environment) = 1 ORDER BY 1
            """
        )
        await session.close()
        return try rows.map { try $0.text(0) }
    }

    private static func read(
        _ id: String,
        _ command: Command,
        _ option: String? = nil
    ) async throws -> String {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("EventLogTests/read_log.py").path
        let url = try #require(command.environment["DATABASE_URL"])
        let ending = try await Program(path: "/usr/bin/env").run(
            ["python3", script, id, "--database", url] + [option].compactMap { $0 }
        )
        #expect(ending.code == 0, "\(ending.errors)")
        return ending.output
    }

    // Without members that come from a fold and are not in the tables.
    private static func tree(_ json: String) throws -> NSDictionary {
        let parsed = try JSONSerialization.jsonObject(with: Data(json.utf8))
        var document = try #require(parsed as? [String: Any])
        let events = try #require(document["events"] as? [[String: Any]])
        // Only the contents of rows: no fold, and no text for people.
        let folded = ["effect", "effectText", "earlierRevocationDate", "summary", "isPayloadKept"]
        document["events"] = events.map { event in
            event.filter { !folded.contains($0.key) }
        }
        for name in ["erasures", "otherSubscriptions"] { document[name] = nil }
        return document as NSDictionary
    }

    private static func count(_ member: String, in document: NSDictionary) -> Int {
        let events = document["events"] as? [[String: Any]] ?? []
        return events.reduce(0) { $0 + ($1[member] as? Int ?? 0) }
    }
}
