import Foundation
import Postgres
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

    /// A decoded transaction of another subscription, with a token and an Apple account.
    private static func decoded(
        _ id: String,
        transaction: String = "",
        token: String = "0b5e7c1a-3f6d-4e0b-9a51-7f3d2c1b0a99",
        account: String
    ) -> String {
        decoded.replacing(
            "\"originalTransactionId\":\"9100000016000\"",
            with: """
                "originalTransactionId":"\(id)","webOrderLineItemId":"\(transaction.isEmpty ? id : transaction)7",\
                "appAccountToken":"\(token)","appTransactionId":"\(account)"
                """
        )
        .replacing(
            "\"transactionId\":\"9100000016000\"",
            with: "\"transactionId\":\"\(transaction.isEmpty ? id : transaction)\""
        )
    }

    @Test func `ids that strangers share are noticed, join nobody, and are reported`() async throws
    {
        let nothing = "00000000-0000-0000-0000-000000000000"
        let lines = [
            Self.decoded("1", transaction: "5", account: "a"),
            Self.decoded("2", transaction: "5", account: "b"), Self.decoded("3", account: "c"),
            Self.decoded("6", account: "d"),
            Self.decoded("4", token: nothing, account: "null"),
            Self.decoded("5", token: nothing, account: "null"),
        ]
        let folder = try TestFolder()
        let file = try folder.write("lines.ndjson", Array(lines.joined(separator: "\n").utf8))
        try await withLedger { command, _ in
            let report = try await command.ingest("--vouch", file)
            #expect(report.appended == 6 && report.leftOut == 0)
            #expect(report.leftOutByReason.map(\.reason) == ["placeholder-ids"])
            #expect(report.notices.count == 2)
            let customer = try await command.expect(0, ["customers", "show", "4"])
            #expect(!customer.contains(" 5 "), "\(customer)")
            try await command.expect(4, ["access", nothing, "--at", "2025-03-10"])
            let anomalies = try await command.expect(0, ["report", "anomalies"])
            #expect(anomalies.contains("shared_token 0b5e7c1a"), "\(anomalies)")
            #expect(anomalies.contains("1 shared_token, 1 shared_transaction"), "\(anomalies)")
            let strict = ["report", "anomalies", "--token-accounts", "4"]
            let none = try await command.expect(0, strict)
            #expect(none.contains("0 shared_token"), "\(none)")
        }
    }

    @Test func `one transaction under two original ids is counted once in money`() async throws {
        // Apple's data: trap 50
        let paid = [("1", "5"), ("2", "5"), ("3", "")].map { id, transaction in
            Self.decoded(id, transaction: transaction, account: id)
                .replacing("{", with: "{\"price\":9990,\"currency\":\"USD\",")
        }
        let folder = try TestFolder()
        let file = try folder.write("lines.ndjson", Array(paid.joined(separator: "\n").utf8))
        try await withLedger { command, settings in
            #expect(try await command.ingest("--vouch", file).appended == 3)
            try await command.expect(0, ["rebuild", "--quiet"])
            try await Self.expectOnce(settings)
            let days = ["--from", "2025-03-01", "--to", "2025-03-10"]
            for known in [[], ["--known-at", "3"]] {
                for report in ["revenue", "mrr", "ltv", "cohorts"] {
                    let text = try await command.expect(
                        0,
                        ["report", report, "--json"] + days + known
                    )
                    #expect(text.contains("19980"), "\(report): \(text)")
                    #expect(!text.contains("29970"), "\(report): \(text)")
                }
                let renewals = try await command.expect(
                    0,
                    ["report", "renewals", "--json"] + days + known
                )
                #expect(renewals.contains("\"paymentsCount\":2"), "\(renewals)")
            }
            let out = folder.path(of: "export")
            try await command.expect(0, "export", "--out", out, "--quiet", "transactions")
            let schema = try String(contentsOfFile: "\(out)/schema.json", encoding: .utf8)
            #expect(schema.contains("is_repeated"))
        }
    }

    // Every view and function that sums or counts, and how those that list rows mark them.
    private static func expectOnce(_ settings: ConnectionSettings) async throws {
        let session = try await PostgresSession.connect(settings)
        let day = "analytics.daily_snapshot_between('2025-03-01', '2025-03-01')"
        let sums = [
            "sum(gross_milliunits) FROM analytics.customer_value": 19_980,
            "sum(gross_milliunits) FROM \(day)": 19_980,
            "max(mrr_milliunits) FROM \(day)": 19_980,
            "max(active_paid) FROM \(day)": 2,
            "sum(new_paid) FROM \(day)": 2,
            "sum(mrr_milliunits) FROM analytics.subscriptions": 19_980,
            "max(cohort_size) FROM analytics.retention": 2,
            "count(*) FROM analytics.transactions": 3,
            "count(*) FROM analytics.transactions WHERE is_repeated": 1,
            "sum(price_milliunits) FROM analytics.transactions WHERE NOT is_repeated": 19_980,
            "sum(amount_milliunits) FROM analytics.movements WHERE NOT is_repeated": 19_980,
        ]
        for (query, expected) in sums {
            let value = try await session.query(
                "SELECT (\(query.replacing(" FROM", with: ")::bigint FROM"))"
            )
            .single().int8(0)
            #expect(value == Int64(expected), "\(query)")
        }
        await session.close()
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
        var rows: [String] = []
        try await withLedger { command, _ in
            let report = try await command.ingest("--root-certificate", root, payloads)
            signed = report.appended + report.duplicates
            rows = try await command.rebuiltDigest()
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
            // How many facts are events and how many confirmations depends on their order; no row
            // of a table does.
            #expect(other.appended + other.duplicates == signed && other.rejected == 0)
            #expect(try await command.rebuiltDigest() == rows)
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
