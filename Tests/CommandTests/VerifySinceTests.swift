import Foundation
import Postgres
import TestSupport
import Testing

/// `verify --since` and `--jobs` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct VerifySinceTests {
    @Test func `only commits after the checkpoint are verified, and the report says so`()
        async throws
    {
        let folder = try TestFolder()
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads()
        try await withLedger { command, settings in
            try await VerifyAgainstTests.ingest(payloads[0..<4], command)
            let file = folder.path(of: "checkpoint.json")
            try await command.expect(0, "checkpoint", "--quiet", "--out", file)
            let head = try VerifyAgainstTests.head(file)
            let before = try await command.json(VerifyDocument.self, "verify")
            try await VerifyAgainstTests.ingest(payloads[4..<6], command)
            let whole = try await command.json(VerifyDocument.self, "verify")
            let proof = ["--signatures", "--root-certificate", simulation.root]
            let output = try await command.expect(
                0,
                ["verify", "--since", file, "--json"] + proof
            )
            let since = try JSONDecoder().decode(VerifyDocument.self, from: Data(output.utf8))
            #expect(since.events == whole.events - before.events && since.events > 0)
            #expect(since.commits == whole.commits - before.commits)
            #expect(since.heads.map(\.digest) == whole.heads.map(\.digest))
            #expect(since.since?.source == file)
            #expect(since.asItWas.isEmpty, "nothing up to the checkpoint was read")
            let payloadsSince = try await settings.number(
                "SELECT count(*) FROM ledger.evidence WHERE commit_no > \(head.commit)"
            )
            #expect(since.signatures?.payloads == payloadsSince)
            let text = try await command.expect(0, "verify", "--since", file)
            let time = VerifyAgainstTests.time(head.takenAt)
            let counts =
                "\(since.events) event\(since.events == 1 ? "" : "s") in "
                + "\(since.commits) commit\(since.commits == 1 ? "" : "s")"
            #expect(
                text.hasPrefix("ok: \(counts) after the checkpoint of \(time)\n"),
                "\(text)"
            )
            #expect(!text.contains("as it was"))
            #expect(text.contains("\nCommits up to the checkpoint were not read; "))
            #expect(text.contains("Not excluded for later commits: "))

            // Older rows than the checkpoint are not read; newer rows are.
            try await settings.meddle(
                "UPDATE ledger.event SET product_id = 'free' WHERE lane_offset = 1"
            )
            try await command.expect(0, "verify", "--since", file)
            try await command.expect(3, "verify")
            try await settings.meddle(
                "UPDATE ledger.commit SET digest = sha256('x') WHERE commit_no = \(head.commit)"
            )
            let moved = try await command.expect(3, "verify", "--since", file)
            #expect(moved.contains("another commit than the checkpoint given with --since"))
            let old = try folder.write("old.json", Array(#"{"heads":[]}"#.utf8))
            try await command.expect(65, "verify", "--since", old)
        }
    }

    @Test func `256 lanes are verified like one, by any number of jobs`() async throws {
        let folder = try TestFolder()
        try await withSimulatedLedger(lanes: 256) { command in
            let file = folder.path(of: "checkpoint.json")
            try await command.expect(0, "checkpoint", "--quiet", "--out", file)
            let arguments = ["verify", "--against", file, "--quiet", "--jobs"]
            let one = try await command.expect(0, arguments + ["1"])
            let four = try await command.expect(0, arguments + ["4"])
            #expect(one == four)
            #expect(one.contains(" lanes: up to their heads in \(file) the log is as it was at "))
            #expect(!one.contains("Not excluded"))
            let json = try await command.expect(0, arguments + ["1", "--json"])
            #expect(try await command.expect(0, arguments + ["3", "--json"]) == json)
        }
    }
}
