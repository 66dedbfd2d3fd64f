import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// What `verify --against` finds, and that it claims nothing more.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled(if: OpenSSL.isInstalled, "openssl is not installed")
)
struct VerifyAgainstTests {
    /// A superuser's attack, who chains the later commits again with matching digests.
    ///
    /// Nothing inside the database remembers the original.
    @Test func `only a checkpoint kept outside reveals a deleted refund`()
        async throws
    {
        let folder = try TestFolder()
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads()
        let refund = try #require(payloads.firstIndex { Self.isRefund($0) && $0 != payloads[0] })
        let (early, late) = (folder.path(of: "early.json"), folder.path(of: "late.json"))
        let later = (refund + 1)..<min(refund + 6, payloads.count - 2)
        try await withLedger { command, settings in
            try await Self.ingest(payloads[max(0, refund - 5)..<refund], command)
            try await command.expect(0, "checkpoint", "--quiet", "--out", early)
            try await Self.ingest(payloads[refund...refund], command)
            try await Self.ingest(payloads[later], command)
            try await command.expect(0, "checkpoint", "--quiet", "--out", late)
            let before = try Self.head(early)
            try await command.expect(0, "verify", "--against", early, late)

            try await settings.meddle(Self.cut(after: before))
            try await Self.ingest(payloads[later], command)
            // The rows of ledger.checkpoint still contradict until they are deleted, too; but any
            // writer could have inserted them.
            let inside = try await command.expect(0, "verify")
            #expect(inside.contains("passed over: the row of "), "\(inside)")
            let document = try await command.expect(0, "verify", "--json")
            #expect(document.contains("\"passedOver\":[\"the row of "), "\(document)")
            try await settings.meddle("DELETE FROM ledger.checkpoint")
            let alone = try await command.expect(0, "verify")
            #expect(alone.hasPrefix("ok: "))
            #expect(
                alone.contains(
                    "Not excluded: someone with superuser rights can rewrite the whole chain "
                        + "with digests that match."
                )
            )
            try await command.expect(
                0,
                ["verify", "--signatures", "--root-certificate", simulation.root]
            )

            try await Self.expectClaims(command, early, late, more: payloads.suffix(2))
        }
    }

    // The exact claims about the rewritten log.
    private static func expectClaims(
        _ command: Command,
        _ early: String,
        _ late: String,
        more: ArraySlice<Data>
    ) async throws {
        let (before, after) = (try head(early), try head(late))
        let (then, found) = (time(before.takenAt), time(after.takenAt))
        let proven =
            "lane 0: up to commit \(before.commit) the log is as it was at \(then) (\(early))"
        let between = "; between commit \(before.commit) and commit \(after.commit) it was "
        // The log is one commit shorter than the later document.
        let cut = try await command.expect(3, "verify", "--against", early, late)
        #expect(
            cut.contains(proven + between + "cut or rewritten after \(found) (\(late))\n"),
            "\(cut)"
        )
        try await ingest(more, command)
        let both = try await command.expect(3, "verify", "--against", late, early)
        #expect(
            both.contains(proven + between + "rewritten after \(found) (\(late))\n"),
            "\(both)"
        )
        #expect(
            both.contains(
                "\(late): checkpoint of \(found), not signed: the log does not contain its head\n"
            )
        )
        #expect(both.components(separatedBy: "as it was").count == 2, "one claim: \(both)")

        let one = try await command.expect(3, "verify", "--against", late)
        #expect(
            one.contains(
                "lane 0: at or before commit \(after.commit) it was rewritten after \(found) "
                    + "(\(late)); no matching head proves any earlier commit\n"
            ),
            "\(one)"
        )
        #expect(!one.contains("as it was") && !one.contains("as they were"))

        let old = try await command.expect(0, "verify", "--against", early)
        #expect(old.contains(proven + "\nNot excluded for later commits: "), "\(old)")
    }

    @Test func `the JSON contains the same claims`() async throws {
        let folder = try TestFolder()
        try await withLedger { command, settings in
            let payloads = try await Simulation.shared.allPayloads()
            try await Self.ingest(payloads[0..<2], command)
            let early = try folder.write(
                "early.json",
                Array(try await command.expect(0, "checkpoint", "--quiet").utf8)
            )
            let first = try await command.json(VerifyDocument.self, "verify", "--against", early)
            let head = try Self.head(early)
            #expect(first.asItWas.map(\.commit) == [head.commit] && first.note == nil)
            #expect(first.asItWas.map(\.source) == [early] && first.rewritten.isEmpty)
            let none = try await command.json(VerifyDocument.self, "verify")
            #expect(none.note?.hasPrefix("Not excluded: ") == true && none.asItWas.isEmpty)
            #expect(none.storedCheckpoints == 1)

            try await Self.ingest(payloads[2..<4], command)
            let late = try folder.write(
                "late.json",
                Array(try await command.expect(0, "checkpoint", "--quiet", "--no-store").utf8)
            )
            try await settings.meddle(Self.cut(after: head))
            let cut = try await command.json(
                VerifyDocument.self,
                exit: 3,
                "verify",
                "--against",
                early,
                late
            )
            let rewritten = try #require(cut.rewritten.first)
            #expect(rewritten.after?.commit == head.commit && rewritten.isMissing)
            #expect(rewritten.upTo.commit == (try Self.head(late)).commit)
            #expect(cut.firstMismatch?.commit == rewritten.upTo.commit && !cut.ok)
            #expect(cut.note == nil)
        }
    }

    @Test func `the verifier in Python finds and refuses the same`() async throws {
        let folder = try TestFolder()
        let key = try await OpenSSL.makeKey("key.pem", in: folder)
        try await withSimulatedLedger { command, settings in
            let text = try await command.expect(0, "checkpoint", "--quiet", "--key", key)
            let whole = try folder.write("whole.json", Array(text.utf8))
            #expect(try await VerifyScript.code(settings, whole) == 0)
            let head = try Self.head(whole)
            let edited = text.replacing(head.digest, with: String(repeating: "0", count: 64))
            let forged = try folder.write("forged.json", Array(edited.utf8))
            #expect(try await VerifyScript.code(settings, whole, forged) == 65)
            try await settings.meddle(
                """
                DELETE FROM ledger.event WHERE lane_offset >=
                    (SELECT first_offset FROM ledger.commit WHERE commit_no = \(head.commit));
                DELETE FROM ledger.confirmation WHERE commit_no = \(head.commit);
                DELETE FROM ledger.evidence WHERE commit_no = \(head.commit);
                DELETE FROM ledger.commit WHERE commit_no = \(head.commit)
                """
            )
            #expect(try await VerifyScript.code(settings) == 0)
            #expect(try await VerifyScript.code(settings, whole) == 3)
        }
    }

    @Test func `edited and forged documents are refused, each with its own error`() async throws {
        let folder = try TestFolder()
        let key = try await OpenSSL.makeKey("key.pem", in: folder)
        try await withSimulatedLedger { command in
            let text = try await command.expect(0, "checkpoint", "--quiet", "--key", key)
            let document = try folder.write("whole.json", Array(text.utf8))
            try await command.expect(0, "verify", "--against", document)
            let head = try Self.head(document)
            let forgeries = [
                ("digest", head.digest, String(repeating: "0", count: 64)),
                ("commit", "\"commit\":\(head.commit)", "\"commit\":\(head.commit + 1)"),
                ("time", "\"takenAt\":\(head.takenAt)", "\"takenAt\":\(head.takenAt - 1)"),
                ("algorithm", "ECDSA-P256-SHA256", "none"), ("lanes", "\"lanes\":1", "\"lanes\":2"),
                ("key", "\"publicKey\":\"M", "\"publicKey\":\"N"),
            ].map { name, from, to in (name, text.replacing(from, with: to)) }
            var paths: [String] = []
            for (name, forgery) in forgeries {
                #expect(forgery != text, "\(name)")
                paths.append(try folder.write("\(name).json", Array(forgery.utf8)))
            }
            paths.append(try folder.write("none.json", Array(#"{"type":"x"}"#.utf8)))
            let ending = try await command.run(["verify", "--against", document] + paths)
            #expect(ending.code == 65 && ending.output.isEmpty)
            for path in paths { #expect(ending.errors.contains(path), "\(ending.errors)") }
            #expect(!ending.errors.contains(document))
            #expect(ending.errors.contains("\(paths[0]) was edited or forged"))
        }
    }

    @Test func `only the given key is accepted`() async throws {
        let folder = try TestFolder()
        let keys = [
            try await OpenSSL.makeKey("key.pem", in: folder),
            try await OpenSSL.makeKey("other.pem", in: folder),
        ]
        let pinned = folder.path(of: "key.pub")
        try await withSimulatedLedger { command, settings in
            try await command.expect(
                0,
                "checkpoint",
                "--key",
                keys[0],
                "--public-key",
                "--out",
                pinned
            )
            var paths: [String] = []
            for arguments in [["--key", keys[0]], ["--key", keys[1]], []] {
                let path = folder.path(of: "\(paths.count).json")
                try await command.expect(
                    0,
                    ["checkpoint", "--quiet", "--out", path] + arguments
                )
                paths.append(path)
            }
            let old = try folder.write(
                "old.json",
                Array(try await command.expect(0, "verify", "--json").utf8)
            )
            let good = try await command.expect(
                0,
                ["verify", "--public-key", pinned, "--against", paths[0]]
            )
            #expect(good.contains("signed with the given key "))
            #expect(good.contains("ledger.checkpoint: 3 rows compared, 1 signed with a given key"))
            let bad = try await command.run(
                ["verify", "--public-key", pinned, "--against"] + paths + [old]
            )
            #expect(bad.code == 65)
            for path in [paths[1] + " is signed with", paths[2] + " is not signed", old] {
                #expect(bad.errors.contains(path), "\(bad.errors)")
            }
            #expect(!bad.errors.contains(paths[0]))
            // Without a given key the fingerprint is shown.
            let both = try await command.expect(0, "verify", "--against", paths[0], paths[1])
            let fingerprints = both.components(separatedBy: "signed with the key ").dropFirst()
                .map { String($0.prefix(64)) }
            #expect(Set(fingerprints).count == 2)
        }
    }

    @Test func `an edited row of a signed checkpoint is named and passed over`() async throws {
        let folder = try TestFolder()
        let key = try await OpenSSL.makeKey("key.pem", in: folder)
        try await withSimulatedLedger { command, settings in
            try await command.expect(0, "checkpoint", "--quiet", "--key", key)
            try await command.expect(0, "verify")
            try await settings.meddle(
                """
                UPDATE ledger.checkpoint
                SET signature = set_byte(signature, 40, get_byte(signature, 40) # 1)
                """
            )
            let edited = try await command.expect(0, "verify")
            #expect(edited.contains("passed over: the row with digest "), "\(edited)")
        }
    }

    @Test
    func `a file may hold one document per line, and a document of another ledger is a mismatch`()
        async throws
    {
        let folder = try TestFolder()
        var other = ""
        // Databases created from one template share a ledger id; this one gets a new one.
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings)
            let command = Command(settings)
            other = try await command.expect(0, "checkpoint", "--quiet")
        }
        try await withSimulatedLedger { command in
            let lines = [
                try await command.expect(0, "checkpoint", "--quiet"),
                try await command.expect(0, "checkpoint", "--quiet"), other,
            ]
            let own = try folder.write("own.ndjson", Array((lines[0] + "\n" + lines[1]).utf8))
            let whole = try await command.expect(0, "verify", "--against", own)
            #expect(whole.contains("\(own) line 1: ") && whole.contains("\(own) line 2: "))
            let all = try folder.write("all.ndjson", Array(lines.joined().utf8))
            let found = try await command.expect(3, "verify", "--against", all)
            #expect(found.contains("\(all) line 3 is a checkpoint of another ledger"))
            #expect(found.contains("lane 0: up to commit "))
            let forged = lines[0] + lines[1].replacing("\"heads\"", with: "\"tails\"")
            let broken = try folder.write("broken.ndjson", Array(forged.utf8))
            let refused = try await command.run("verify", "--against", broken)
            #expect(refused.code == 65 && refused.errors.contains("\(broken) line 2"))
        }
    }
}

extension VerifyAgainstTests {
    struct Head: Decodable {
        let commit: Int64
        let digest: String
        let takenAt: Int64
    }

    private struct Document: Decodable {
        let takenAt: Int64
        let heads: [VerifyDocument.Head]
    }

    static func head(_ path: String) throws -> Head {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let document = try JSONDecoder().decode(Document.self, from: data)
        let head = try #require(document.heads.first)
        return Head(commit: head.commit, digest: head.digest, takenAt: document.takenAt)
    }

    static func time(_ milliseconds: Int64) -> String {
        Instant(milliseconds: milliseconds).description
    }

    static func ingest(_ payloads: ArraySlice<Data>, _ command: Command) async throws {
        let folder = try TestFolder()
        let simulation = try await Simulation.shared
        for payload in payloads {
            let file = try folder.write("payload.json", Array(payload))
            try await command.expect(0, simulation.arguments + [file])
        }
    }

    /// Removes everything committed after a head.
    static func cut(after head: Head) -> String {
        """
        DELETE FROM ledger.event WHERE lane_offset >=
            (SELECT min(first_offset) FROM ledger.commit WHERE commit_no > \(head.commit));
        DELETE FROM ledger.confirmation WHERE commit_no > \(head.commit);
        DELETE FROM ledger.evidence WHERE commit_no > \(head.commit);
        DELETE FROM ledger.commit WHERE commit_no > \(head.commit)
        """
    }

    static func isRefund(_ payload: Data) -> Bool {
        let parts = String(decoding: payload, as: UTF8.self).split(separator: ".")
        guard parts.count >= 3 else { return false }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text).map {
            String(decoding: $0, as: UTF8.self).contains("\"REFUND\"")
        } ?? false
    }
}
