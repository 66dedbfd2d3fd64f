import Foundation
import Postgres
import TestSupport
import Testing

/// What `verify` finds, from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct VerifyTests {
    /// Each tampering, and whether it can be traced to an event.
    private static let tamperings = [
        "UPDATE ledger.event SET product_id = 'free' WHERE lane_offset = 7",
        "UPDATE ledger.event SET recorded_at = '2001-01-01 00:00:00Z' "
            + "WHERE lane_offset = 7",
        "UPDATE ledger.event SET as_of_ms = as_of_ms + 1 WHERE lane_offset = 7",
        "DELETE FROM ledger.event WHERE lane_offset = 7",
        "UPDATE ledger.commit SET digest = sha256('x') WHERE commit_no = 2",
        "UPDATE ledger.evidence SET source = 'elsewhere' WHERE evidence_no = "
            + "(SELECT evidence_no FROM ledger.event WHERE lane_offset = 7)",
        "UPDATE ledger.evidence SET body = '\\x010001' WHERE evidence_no = "
            + "(SELECT evidence_no FROM ledger.event WHERE lane_offset = 7)",
    ]

    @Test(arguments: tamperings)
    func `a change to the log is found and reported, with exit 3`(tampering: String) async throws {
        try await withFilledLedger { command, settings in
            try await settings.meddle(tampering)
            let output = try await command.expect(3, "verify", "--json")
            let report = try JSONDecoder().decode(VerifyDocument.self, from: Data(output.utf8))
            #expect(!report.ok)
            let mismatch = try #require(report.firstMismatch)
            #expect(mismatch.lane == 0 && mismatch.commit >= 1 && !mismatch.reason.isEmpty)
            #expect(report.commits == mismatch.commit - 1)
            let text = try await command.expect(3, "verify")
            #expect(text.hasPrefix("MISMATCH in lane 0, commit \(mismatch.commit)"))
        }
    }

    @Test func `a head kept outside proves a continuation and reveals a truncated log`()
        async throws
    {
        let folder = try TestFolder()
        try await withFilledLedger { command, settings in
            let kept = try await command.expect(0, "verify", "--json")
            #expect(
                try members(kept) == [
                    "ok", "events", "commits", "erasedEvents", "heads", "firstMismatch",
                    "checkpoints", "storedCheckpoints", "passedOver", "asItWas", "rewritten",
                    "note",
                ]
            )
            #expect(try members(kept, "heads") == ["lane", "offset", "commit", "digest"])
            let file = try folder.write("kept.json", Array(kept.utf8))
            try await fill(command, lives: 10..<20)
            try await command.expect(0, "verify", "--against", file)
            try await settings.meddle(
                """
                DELETE FROM ledger.event WHERE lane_offset >
                    (SELECT count FROM ledger.commit WHERE commit_no = 1);
                DELETE FROM ledger.confirmation WHERE commit_no > 1;
                DELETE FROM ledger.commit WHERE commit_no > 1;
                DELETE FROM ledger.evidence WHERE commit_no > 1
                """
            )
            try await command.expect(0, "verify")
            let cut = try await command.expect(3, "verify", "--against", file)
            #expect(cut.contains("MISMATCH"))
        }
    }

    @Test func `a head of another ledger does not match this one`() async throws {
        let folder = try TestFolder()
        var kept = ""
        try await withFilledLedger { command, _ in
            kept = try await command.expect(0, "verify", "--json")
        }
        let file = try folder.write("kept.json", Array(kept.utf8))
        try await withFilledLedger { command, _ in
            try await command.expect(3, "verify", "--against", file)
        }
    }

    @Test func `a kept head must have the form that verify prints`() async throws {
        let folder = try TestFolder()
        try await withLedger { command, _ in
            try await command.expect(66, "verify", "--against", "/nowhere")
            let other = try folder.write("other.json", Array("{}".utf8))
            try await command.expect(65, "verify", "--against", other)
            for text in [
                #"{"heads":[{"lane":0,"offset":1,"commit":1,"digest":"xyz"}]}"#,
                try await command.expect(0, "verify", "--json"),
            ] {
                let broken = try folder.write("broken.json", Array(text.utf8))
                let ending = try await command.run("verify", "--against", broken)
                #expect(ending.code == 65, "\(text)")
                #expect(ending.errors.contains(broken), "\(ending.errors)")
            }
        }
    }

    /// Lends a ledger of several commits.
    private func withFilledLedger(
        _ body: (Command, ConnectionSettings) async throws -> Void
    ) async throws {
        try await withLedger { command, settings in
            // Ingested separately, so that there are several commits.
            try await fill(command, lives: 0..<1)
            try await fill(command, lives: 1..<10)
            try await body(command, settings)
        }
    }

    /// Ingests a range of the simulated payloads.
    private func fill(_ command: Command, lives: Range<Int>) async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payloads = try simulation.allPayloads()[lives]
        let lines = try folder.write("lines.ndjson", payloads.joined(separator: [0x0a]))
        try await command.expect(0, simulation.arguments + [lines])
    }
}
