import TestSupport
import Testing

/// What `ingest` makes of payloads that carry no signature: decoded data, and version 1
/// notifications with one of several shared secrets.
@Suite(.enabled { await TestServer.isAvailable })
struct UnsignedIngestTests {
    private static let decoded = """
        {"transactionId":"9100000016000","originalTransactionId":"9100000016000",\
        "bundleId":"com.example","productId":"pro.monthly","purchaseDate":1740787200000,\
        "expiresDate":1743465600000,"type":"Auto-Renewable Subscription",\
        "signedDate":1740787205000,"environment":"Production"}
        """

    @Test func `decoded transactions are refused, and taken with --vouch as vouched for`()
        async throws
    {
        let folder = try TestFolder()
        let file = try folder.write("decoded.ndjson", Array("\(Self.decoded)\n".utf8))
        try await withLedger { command, _ in
            let refused = try await command.ingest(exit: 65, file)
            #expect(refused.rejections.map(\.reason) == ["unproven"])
            #expect(refused.rejectedByReason.first?.advice?.hasPrefix("--vouch") == true)
            #expect(try await command.ingest("--vouch", file).appended == 1)
            #expect(try await command.ingest("--vouch", file).duplicates == 1)
            let times = ["--at", "2025-03-10", "9100000016000"]
            try await command.expect(0, ["access"] + times)
            let history = try await command.expect(0, ["history", "9100000016000"])
            #expect(history.contains("vouched"), "\(history)")
            try await command.expect(0, ["verify", "--signatures"])
        }
    }

    @Test func `a file with several shared secrets proves the notifications of each`() async throws
    {
        let folder = try TestFolder()
        let payloads = folder.path(of: "store")
        try await Command(environment: [:]).expect(
            0,
            ["simulate", "--quiet", "--subscriptions", "5", "--seed", "9", "--format", "v1"]
                + ["--shared-secret", "5ec4e7-of-today", "--out", payloads]
        )
        let root = "\(payloads)/root.der"
        var signed = 0
        try await withLedger { command, _ in
            signed = try await command.ingest("--root-certificate", root, payloads).appended
        }
        try await withLedger { command, _ in
            func ingest(_ secrets: String) async throws -> IngestDocument {
                let file = try folder.write("secrets", Array(secrets.utf8))
                return try await command.ingest(
                    "--shared-secret-file",
                    file,
                    "--root-certificate",
                    root,
                    payloads
                )
            }
            let other = try await ingest("of another app\nolder\n")
            #expect(other.appended == signed && other.rejected == 0)
            #expect(other.leftOutByReason.map(\.reason) == ["shared-secret-mismatch"])
            #expect(other.leftOutByReason.first?.advice?.contains("one a line") == true)
            let right = try await ingest("older\n\n 5ec4e7-of-today \r\nnewer")
            #expect(right.leftOutByReason.isEmpty && right.appended > 0)
            let empty = try folder.write("empty", Array("\n \n".utf8))
            let refused = try await command.run("ingest", "--shared-secret-file", empty, payloads)
            #expect(refused.code == 78 && refused.errors.contains("is empty"), "\(refused.errors)")
        }
    }
}
