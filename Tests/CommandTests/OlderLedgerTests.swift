import EventLog
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// A ledger filled by a program of November 2026 that did not know seats, bundles and retention
/// offers: its log is complete, its answers were wrong.
///
/// `older-ledger.sql` contains the rows of its log, `older-ledger-truth.ndjson` the true periods of
/// the simulated subscriptions in it, and `older-ledger-root.der` the certificate that signed them.
@Suite(.enabled { await TestServer.isAvailable })
struct OlderLedgerTests {
    @Test func `a rebuild corrects what an older program stored and did not understand`()
        async throws
    {
        let folder = try TestFolder()
        let truths = try Self.file("older-ledger-truth.ndjson").split(separator: "\n")
        var rows: [String: String] = [:]
        var payloads: [String] = []
        try await withLedger { command, settings in
            try await settings.meddle(try Self.file("older-ledger.sql"))
            let verified = try await command.json(VerifyDocument.self, "verify")
            #expect(verified.ok && verified.events > 40)
            #expect(try await VerifyScript.code(settings) == 0)
            rows = try await Self.digests(command)
            for line in truths {
                let truth = try JSONDecoder().decode(PeriodsDocument.self, from: Data(line.utf8))
                let told = try await command.json(
                    PeriodsDocument.self,
                    "periods",
                    truth.originalTransactionId
                )
                #expect(told == truth)
            }
            let seats = try await command.expect(0, "report", "seats", "--json")
            #expect(seats.contains("\"seatsSold\""), "\(seats)")
            for offset in 1...verified.events {
                payloads.append(try await command.expect(0, "event", "\(offset)", "--raw"))
            }
        }
        // The same payloads, ingested by this program, give the same rows.
        try await withLedger { command, _ in
            let root = try folder.write("root.der", Self.root())
            let lines = Set(payloads).sorted().joined(separator: "\n")
            let file = try folder.write("payloads.ndjson", Array(lines.utf8))
            let report = try await command.ingest("--root-certificate", root, file)
            #expect(report.rejected == 0 && report.appended > 40)
            #expect(try await Self.digests(command) == rows)
        }
    }

    /// `older-erasures.sql`: before migration 11, nothing kept an erasure from taking too little.
    @Test func `erasures of an older program still verify, and a rebuild leaves them out`()
        async throws
    {
        try await withLedger { command, settings in
            try await settings.meddle(try Self.file("older-erasures.sql"))
            let verified = try await command.json(VerifyDocument.self, "verify")
            #expect(verified.ok && verified.events == 48)
            #expect(try await VerifyScript.code(settings) == 0)
            let proof = try await command.expect(0, "verify", "--signatures")
            #expect(proof.contains("19 not kept after erasures"), "\(proof)")
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
            let periods = "SELECT count(*) FROM projection.active_periods WHERE "
            let erased = "original_transaction_id = '292000000001000'"
            #expect(try await settings.number("\(periods) \(erased)") == 0)
            #expect(try await settings.number("\(periods) NOT \(erased)") > 0)
            #expect(
                try await settings.number(
                    """
                    SELECT count(*) FROM projection.customers c
                    WHERE c::text LIKE '%0e062013-a86d-420f-818b-68216d4042a8%'
                    """
                ) == 0
            )
        }
    }

    // Of all tables but transactions: one payload only confirms, so no event leads to it, and it
    // alone has the transaction ids of a restore.
    private static func digests(_ command: Command) async throws -> [String: String] {
        let rebuilt = try await command.json([RebuildLine].self, "rebuild", "--quiet")
        let pairs = rebuilt.filter { $0.name != "transactions" }.map { ($0.name, $0.digest) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private static func url(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
    }

    private static func file(_ name: String) throws -> String {
        try String(contentsOf: url(name), encoding: .utf8)
    }

    // The certificate that signed the payloads.
    private static func root() throws -> [UInt8] {
        Array(try Data(contentsOf: url("older-ledger-root.der")))
    }
}
