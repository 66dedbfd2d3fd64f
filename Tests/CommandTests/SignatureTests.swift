import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// `verify --signatures` and the trust in `history` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct SignatureTests {
    @Test func `a simulated ledger is proven with its root, and not without it`() async throws {
        let simulation = try await Simulation.shared
        try await withFilledLedger { command, settings in
            let proof = ["verify", "--signatures", "--root-certificate", simulation.root]
            let output = try await command.expect(0, proof + ["--json"])
            #expect(
                try members(output, "signatures") == [
                    "payloads", "verified", "byTrust", "notKept", "notKeptEvents", "firstFailure",
                ]
            )
            let report = try JSONDecoder().decode(VerifyDocument.self, from: Data(output.utf8))
            let signatures = try #require(report.signatures)
            #expect(report.ok && signatures.firstFailure == nil)
            #expect(signatures.payloads == signatures.verified && signatures.verified > 0)
            #expect(signatures.byTrust == ["signed": signatures.verified])
            let one = try await command.expect(0, proof + ["--jobs", "1", "--json"])
            #expect(one == output, "the number of jobs changes nothing")
            #expect(try await command.expect(0, proof).contains("signatures ok: "))

            let without = try await command.json(
                VerifyDocument.self,
                exit: 3,
                "verify",
                "--signatures"
            )
            let failure = try #require(without.signatures?.firstFailure)
            #expect(!without.ok && without.firstMismatch == nil, "the chain matches")
            #expect(failure.position == 1 && failure.reason == "root-not-given")
            #expect(failure.message.contains("--root-certificate"))
            let root = Digest.of(
                [UInt8](try Data(contentsOf: URL(fileURLWithPath: simulation.root)))
            )
            #expect(failure.message.contains(root.hex))
            let text = try await command.expect(3, "verify", "--signatures")
            #expect(text.contains("NOT PROVEN: event 1, evidence "))
            #expect(text.contains("[root-not-given]"))
            try await command.expect(66, "verify", "--signatures", "--root-certificate", "/nowhere")
        }
    }

    @Test func `an event that no signature proves is named, although the chain matches`()
        async throws
    {
        let simulation = try await Simulation.shared
        try await withFilledLedger { command, settings in
            let log = try await EventLog.open(settings, Self.oneReader)
            let position = try #require(try await log.append(Self.forgery()).first?.position)
            await log.close()
            try await command.expectSoundLog()
            let report = try await command.json(
                VerifyDocument.self,
                exit: 3,
                "verify",
                "--signatures",
                "--root-certificate",
                simulation.root
            )
            let text = try await command.expect(
                3,
                "verify",
                "--signatures",
                "--root-certificate",
                simulation.root
            )
            #expect(text.hasPrefix("signatures NOT PROVEN, chain of digests ok: "), "\(text)")
            let failure = try #require(report.signatures?.firstFailure)
            #expect(failure.position == position.offset)
            #expect(failure.reason == "date-missing", "\(failure.message)")
            #expect(failure.evidence == Self.forgery().evidence.digest.hex)
            #expect(report.firstMismatch == nil)
        }
    }

    @Test func `history shows trust, source and kind, and filters by trust`() async throws {
        // One line: text that starts with a member is read as NDJSON.
        let body = #"""
            {"status":0,"environment":"Sandbox","receipt":{"bundle_id":"a.b","in_app":[{"product_id":\#
            "p","transaction_id":"77","original_transaction_id":"77","quantity":"1",\#
            "purchase_date_ms":"1600000000000","original_purchase_date_ms":"1600000000000",\#
            "expires_date_ms":"1602000000000"}],"request_date_ms":"1600000001000"}}
            """#
        let folder = try TestFolder()
        let path = try folder.write("response.json", Array(body.utf8))
        try await withLedger { command, _ in
            _ = try await command.ingest("--vouch", "--source", "archive", path)
            let all = try await command.json(HistoryTrust.self, "history", "77")
            #expect(
                Set(all.events) == [
                    HistoryTrust.Line(
                        trust: "vouched",
                        source: "archive",
                        evidenceKind: "verify-receipt-response"
                    )
                ]
            )
            let arguments = ["history", "77", "--json", "--trust"]
            let vouched = try await command.expect(0, arguments + ["vouched", "--trust", "signed"])
            #expect(try members(vouched, "events").contains("trust"))
            let signed = try await command.expect(0, arguments + ["signed"])
            #expect(signed.contains("\"events\":[]"))
            #expect(try await command.expect(0, "history", "77").contains("vouched  archive"))
            let proof = try await command.json(VerifyDocument.self, "verify", "--signatures")
            #expect(proof.signatures?.byTrust == ["vouched": 1])
            let ending = try await command.run("history", "77", "--trust", "trusted")
            #expect(ending.code == 64)
            #expect(ending.errors.contains("signed, fetched, shared-secret, vouched"))
        }
    }

    /// A fact in an unsigned part of a body.
    private static func forgery() -> Verified<[Fact]> {
        var content = Content(format: .signedTransaction)
        content[.productId] = .text("free")
        let fact = Fact(
            stream: StreamID(environment: .production, originalTransactionId: "4711"),
            bundleId: "a.b",
            kind: .transaction,
            purchaseDate: Instant(milliseconds: 1_600_000_000_000),
            expiresDate: Instant(milliseconds: 1_700_000_000_000),
            asOf: Instant(milliseconds: 1_600_000_000_000),
            content: content
        )
        return Verified(
            [fact],
            evidence: Evidence(
                payload: Array(#"{"notification_type":"RENEWAL","environment":"PROD"}"#.utf8),
                kind: .signedTransaction,
                source: "file",
                verification: Verification(trust: .sharedSecret, root: nil),
                receivedAt: Instant(milliseconds: 1_600_000_000_000)
            )
        )
    }

    private static var oneReader: EventLog.Options {
        var options = EventLog.Options()
        options.readersMax = 1
        return options
    }

    private func withFilledLedger(
        _ body: (Command, ConnectionSettings) async throws -> Void
    ) async throws {
        let simulation = try await Simulation.shared
        try await withLedger { command, settings in
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await body(command, settings)
        }
    }
}
