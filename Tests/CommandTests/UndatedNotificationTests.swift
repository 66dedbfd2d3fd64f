import Foundation
import TestSupport
import Testing

/// Version 1 notifications without a readable receipt: nothing in them dates them (Apple's data:
/// version 1 repetitions).
@Suite(.enabled { await TestServer.isAvailable })
struct UndatedNotificationTests {
    @Test func `grace in a version 1 notification without a receipt gives access to its end`()
        async throws
    {
        try await withLedger { command, _ in
            let failed = Self.failed(grace: "1786924800000")
            try await Self.ingest([Self.bought, failed], into: command)
            for (at, code) in [
                ("2026-07-31", Int32(0)), ("2026-08-05", 0), ("2026-08-16T23:59:59Z", 0),
                ("2026-08-17", 1),
            ] {
                #expect(try await command.run("access", "-q", "1000", "--at", at).code == code)
            }
            let then = try await command.expect(0, "access", "1000", "--at", "2026-08-05")
            #expect(then.contains("until 2026-08-17") && then.contains("grace"))
            let state = try await command.expect(0, "state", "1000", "--at", "2026-08-05")
            #expect(state.contains("grace_period"))
            try await Self.ingest([Self.recovered(from: "1785542400000")], into: command)
            #expect(try await command.run("access", "-q", "1000", "--at", "2026-08-20").code == 0)
        }
    }

    @Test func `without grace it is billing retry until the charge succeeds`() async throws {
        try await withLedger { command, _ in
            try await Self.ingest([Self.bought, Self.failed(grace: nil)], into: command)
            #expect(try await command.run("access", "-q", "1000", "--at", "2026-08-05").code == 1)
            let state = try await command.expect(0, "state", "1000", "--at", "2026-08-05")
            #expect(state.contains("billing_retry"))
            try await Self.ingest([Self.recovered(from: "1786320000000")], into: command)
            #expect(try await command.run("access", "-q", "1000", "--at", "2026-08-05").code == 1)
            #expect(try await command.run("access", "-q", "1000", "--at", "2026-08-20").code == 0)
        }
    }

    @Test func `history and explain mark an as-of that is only a lower bound`() async throws {
        try await withLedger { command, _ in
            let failed = Self.failed(grace: "1786924800000")
            try await Self.ingest([Self.bought, failed], into: command)
            let table = try await command.expect(0, "history", "1000")
            #expect(table.contains("≥ 2026-07-01 00:00:00"))
            #expect(table.contains("≥ 2026-08-01 00:00:00"))
            let document = try await command.expect(0, "history", "1000", "--json")
            #expect(!document.contains(#""asOfIsLowerBound":false"#))
            #expect(document.contains(#""asOfIsLowerBound":true"#))
            let arguments = ["explain", "1000", "--at", "2026-08-05"]
            #expect(
                try await command.expect(0, arguments).contains("signed >= 2026-08-01 00:00:00")
            )
            let told = try await command.expect(0, arguments + ["--json"])
            #expect(told.replacing(" ", with: "").contains(#""signedAtIsLowerBound":true"#))
        }
        try await withSimulatedLedger { command in
            let id = try await command.json([StreamLine].self, "streams")[0].originalTransactionId
            let told = try await command.expect(0, "history", id, "--json")
            #expect(!told.contains(#""asOfIsLowerBound":true"#))
        }
    }

    // 1 July to 1 August 2026, without a receipt.
    private static let bought = body("INITIAL_BUY", rows: [row("1", 1_782_864_000_000)])

    private static func failed(grace: String?) -> String {
        body(
            "DID_FAIL_TO_RENEW",
            rows: [row("1", 1_782_864_000_000)],
            pending: #","is_in_billing_retry_period":"1","expiration_intent":"2""#
                + (grace.map { #","grace_period_expires_date_ms":"\#($0)""# } ?? "")
        )
    }

    private static func recovered(from start: String) -> String {
        body(
            "DID_RECOVER",
            rows: [row("1", 1_782_864_000_000), row("2", Int64(start) ?? 0)]
        )
    }

    private static func row(_ id: String, _ start: Int64) -> String {
        """
        {"product_id":"pro","transaction_id":"\(id)","original_transaction_id":"1000",\
        "purchase_date_ms":"\(start)","expires_date_ms":"\(start + 2_678_400_000)"}
        """
    }

    private static func body(_ type: String, rows: [String], pending: String = "") -> String {
        """
        {"notification_type":"\(type)","environment":"PROD","bid":"com.example",\
        "auto_renew_status":"true","auto_renew_product_id":"pro","unified_receipt":{"status":0,\
        "environment":"Production","latest_receipt_info":[\(rows.joined(separator: ","))],\
        "pending_renewal_info":[{"original_transaction_id":"1000","product_id":"pro",\
        "auto_renew_product_id":"pro","auto_renew_status":"1"\(pending)}]}}
        """
    }

    private static func ingest(_ bodies: [String], into command: Command) async throws {
        let folder = try TestFolder()
        for (number, body) in bodies.enumerated() {
            let path = folder.path(of: "\(number).json")
            try body.write(toFile: path, atomically: true, encoding: .utf8)
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
        }
    }
}
