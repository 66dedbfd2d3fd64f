import Foundation
import Postgres
import TestSupport
import Testing

/// `checkpoint` from the outside.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled(if: OpenSSL.isInstalled, "openssl is not installed")
)
struct CheckpointTests {
    private struct Document: Decodable {
        let type: String
        let ledgerId: String
        let formatVersion: Int
        let lanes: Int
        let takenAt: Int64
        let heads: [VerifyDocument.Head]
        let signature: Signature?

        struct Signature: Decodable {
            let algorithm: String
            let publicKey: String
            let value: String
        }
    }

    @Test func `a document holds the heads, is stored as a row, and openssl verifies it`()
        async throws
    {
        let folder = try TestFolder()
        let key = try await OpenSSL.makeKey("key.pem", in: folder)
        try await withSimulatedLedger { command, settings in
            let text = try await command.expect(0, "checkpoint", "--key", key)
            let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
            let verified = try await command.json(VerifyDocument.self, "verify")
            #expect(document.heads.map(\.digest) == verified.heads.map(\.digest))
            #expect(document.heads.map(\.commit) == verified.heads.map(\.commit))
            let id = try await settings.text("SELECT ledger_id::text FROM ledger.ledger_config")
            #expect(document.ledgerId.lowercased() == id)
            #expect(document.lanes == 1 && document.type == "subledger-checkpoint")

            let signature = try #require(document.signature)
            let body = try await settings.text(
                "SELECT encode(body, 'base64') FROM ledger.checkpoint"
            )
            let paths = try [
                ("body", body), ("signature", signature.value), ("public.der", signature.publicKey),
            ].map { name, text in
                let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
                return try folder.write(name, try #require(data))
            }
            let ending = try await OpenSSL.run([
                "dgst", "-sha256", "-verify", paths[2], "-keyform", "DER", "-signature", paths[1],
                paths[0],
            ])
            #expect(ending.output.contains("Verified OK"), "\(ending.errors)")
            let same = try await settings.number(
                """
                SELECT count(*) FROM ledger.checkpoint
                WHERE signature = decode('\(signature.value)', 'base64')
                    AND public_key = decode('\(signature.publicKey)', 'base64')
                """
            )
            #expect(same == 1)
        }
    }

    @Test func `without a key the document is unsigned and says so`() async throws {
        let folder = try TestFolder()
        try await withLedger { command, settings in
            let ending = try await command.run("checkpoint")
            #expect(ending.code == 0 && ending.output.contains("\"signature\":null"))
            #expect(ending.errors.contains("not signed"))
            let file = folder.path(of: "document.json")
            #expect(try await command.expect(0, "checkpoint", "--out", file).isEmpty)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("\"heads\":[]"))
            #expect(try await settings.number("SELECT count(*) FROM ledger.checkpoint") == 2)
            try await command.expect(0, "checkpoint", "--no-store")
            #expect(try await settings.number("SELECT count(*) FROM ledger.checkpoint") == 2)
            let nowhere = try await command.run("checkpoint", "--out", "/nowhere/document.json")
            #expect(nowhere.code == 70 && nowhere.errors.contains("/nowhere"))
            #expect(try await settings.number("SELECT count(*) FROM ledger.checkpoint") == 2)
        }
    }

    @Test func `the public key is printed without a database, the same for both forms`()
        async throws
    {
        let folder = try TestFolder()
        let key = try await OpenSSL.makeKey("key.pem", in: folder)
        let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])
        let expected = try await OpenSSL.run(["pkey", "-in", key, "-pubout"])
        let printed = try await command.expect(0, "checkpoint", "--key", key, "--public-key")
        #expect(printed == expected.output)
        let parameters = try await OpenSSL.run(["ecparam", "-name", "prime256v1"])
        let sec1 = try await OpenSSL.run(["ec", "-in", key])
        let old = try folder.write("old.pem", Array((parameters.output + sec1.output).utf8))
        chmod(old, 0o600)
        #expect(sec1.output.contains("BEGIN EC PRIVATE KEY"))
        let again = try await command.expect(0, "checkpoint", "--key", old, "--public-key")
        #expect(again == printed)
    }

    @Test func `a key that others may read or that is not P-256 is refused and not shown`()
        async throws
    {
        let folder = try TestFolder()
        let key = try await OpenSSL.makeKey("key.pem", in: folder)
        let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])
        for mode in [0o644, 0o660, 0o606, 0o620, 0o604] as [mode_t] {
            chmod(key, mode)
            let ending = try await command.run("checkpoint", "--key", key)
            #expect(ending.code == 78 && ending.output.isEmpty)
            #expect(ending.errors.contains("chmod 600 \(key)"), "\(ending.errors)")
        }
        chmod(key, 0o600)
        let whole = try String(contentsOfFile: key, encoding: .utf8)
        let secret = String(whole.split(separator: "\n")[1])
        let larger = folder.path(of: "p384.pem")
        _ = try await OpenSSL.run([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", larger,
        ])
        let locked = folder.path(of: "locked.pem")
        _ = try await OpenSSL.run([
            "pkcs8", "-topk8", "-in", key, "-out", locked, "-passout", "pass:x",
        ])
        let cut = try folder.write("cut.pem", Array(whole.utf8).dropLast(40))
        for path in [larger, locked, cut] {
            chmod(path, 0o600)
            let ending = try await command.run("checkpoint", "--key", path)
            #expect(ending.code == 78 && ending.output.isEmpty, "\(path): \(ending.errors)")
            #expect(ending.errors.contains(path))
            #expect(!ending.errors.contains(secret) && !ending.errors.contains("BEGIN"))
        }
        let missing = try await command.run("checkpoint", "--key", "/nowhere")
        #expect(missing.code == 66 && missing.errors.contains("/nowhere"))
    }

    @Test(
        .enabled("the tests' own server lets every role in") {
            ProcessInfo.processInfo.environment["SUBLEDGER_TEST_DATABASE_URL"] == nil
        }
    )
    func `a reader is refused the row, and gets the document with the option that is named`()
        async throws
    {
        try await withLedger { command, settings in
            let name = "auditor_\(ProcessInfo.processInfo.processIdentifier)"
            try await settings.meddle("CREATE ROLE \(name) LOGIN; GRANT ledger_reader TO \(name)")
            let reader = Command(settings.loggedIn(as: name))
            let refused = try await reader.run("checkpoint")
            #expect(refused.code == 77 && refused.output.isEmpty, "\(refused.errors)")
            #expect(refused.errors.contains("--no-store"))
            #expect(refused.errors.contains("ledger_writer"))
            let given = try await reader.run("checkpoint", "--no-store")
            #expect(given.code == 0 && given.output.contains("subledger-checkpoint"))
            try await settings.meddle("DROP OWNED BY \(name); DROP ROLE \(name)")
        }
    }

    @Test func `rows with impossible times do not hide the age of the newest checkpoint`()
        async throws
    {
        try await withSimulatedLedger { command, settings in
            try await command.expect(0, "checkpoint", "--quiet")
            try await settings.meddle(
                "UPDATE ledger.checkpoint SET taken_at = now() - interval '3 days'"
            )
            // The second is beyond what 64 bits of microseconds since 1970 hold.
            for time in ["2099-01-01", "294270-01-01", "infinity", "-infinity"] {
                try await settings.meddle(
                    """
                    INSERT INTO ledger.checkpoint (lane, taken_at, digest, body)
                    SELECT ledger.lane_of(encode(sha256(b), 'hex')), '\(time)', sha256(b), b
                    FROM (SELECT convert_to('\(time)', 'UTF8') AS b) AS forged
                    """
                )
            }
            let doctor = try await command.run("doctor", "--json")
            let report = try JSONDecoder().decode(Findings.self, from: Data(doctor.output.utf8))
            let found = try #require(report.checks.first { $0.check == "checkpoint" })
            #expect(found.result == "warning")
            #expect(found.message.contains("the newest is 72 h"), "\(found.message)")
            #expect(found.message.contains("not counting 3 rows"), "\(found.message)")
            let lines = try await command.expect(0, "verify").split(separator: "\n")
            let passedOver = lines.filter { $0.hasPrefix("passed over: the row with digest ") }
            #expect(passedOver.count == 5, "\(lines)")
            let later = passedOver.filter { $0.contains("dated later than the server's clock") }
            #expect(later.count == 3, "\(lines)")
        }
    }

    private struct Findings: Decodable {
        let checks: [Check]

        struct Check: Decodable {
            let check: String
            let result: String
            let message: String
        }
    }
}
