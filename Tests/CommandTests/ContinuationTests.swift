import Foundation
import Postgres
import TestSupport
import Testing

/// Responses in which each renewal has an original id of its own (Decisions).
@Suite(.enabled { await TestServer.isAvailable })
struct ContinuationTests {
    // 2021-01-01, 02-01, 03-01 and 04-01.
    private static let months = [
        1_609_459_200_000, 1_612_137_600_000, 1_614_556_800_000, 1_617_235_200_000,
    ]

    /// The response as of a few days into the last of these months.
    private static func response(months count: Int) -> String {
        let rows = (1...count).map { month in
            """
            {"product_id":"pro.monthly","transaction_id":"100\(month)",\
            "original_transaction_id":"100\(month)","quantity":"1",\
            "purchase_date_ms":"\(months[month - 1])","expires_date_ms":"\(months[month])"}
            """
        }
        return """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example",\
            "request_date_ms":"\(months[count - 1] + 86_400_000)","in_app":[]},\
            "latest_receipt_info":[\(rows.joined(separator: ","))]}
            """
    }

    @Test(arguments: [[1, 2, 3], [3, 1, 2], [2, 2, 3, 1]])
    func `renewals with original ids of their own are one start and renewals, in any order`(
        order: [Int]
    ) async throws {
        let folder = try TestFolder()
        try await withLedger { command, settings in
            try await command.expect(0, ["rebuild", "--quiet"])
            for count in order {
                let file = try folder.write("r.json", Array(Self.response(months: count).utf8))
                _ = try await command.ingest("--vouch", file)
                try await command.expect(0, ["follow", "--once", "--quiet"])
            }
            try await command.expect(0, ["tables", "check"])
            let session = try await PostgresSession.connect(settings)
            let rows = try await session.query(
                "SELECT movement FROM projection.movements ORDER BY occurred_at, movement"
            )
            let head = try await session.query("SELECT max(lane_offset) FROM ledger.event").single()
                .int8(0)
            await session.close()
            let movements = try (0..<rows.count).map { try rows[$0].text(0) }
            #expect(movements == ["paid_start", "renewal", "renewal"])
            try await command.expect(0, ["access", "1001", "--at", "2021-03-10"])
            try await command.expect(0, ["verify", "--signatures"])
            // One subscription, active before February and March, and not lost.
            let days = ["--from", "2021-02-01", "--to", "2021-03-01"]
            for known in [[], ["--known-at", "\(head)"]] {
                let churn = try await command.expect(
                    0,
                    ["report", "churn", "--json"] + days + known
                )
                #expect(churn.contains("\"lost\":0") && !churn.contains("\"lost\":1"), "\(churn)")
                #expect(!churn.contains("\"churnedUnknown\":1"), "\(churn)")
            }
            let years = ["--from", "2021-01-01", "--to", "2021-03-01"]
            let cohorts = try await command.expect(0, ["report", "cohorts", "--json"] + years)
            for month in 0...2 {
                #expect(cohorts.contains("\"monthNumber\":\(month)"), "\(cohorts)")
            }
            let retention = try await command.expect(
                0,
                ["report", "retention", "--json"] + years
            )
            #expect(retention.contains("\"retained\":1"), "\(retention)")
            let renewals = try await command.expect(0, ["report", "renewals", "--json"] + years)
            #expect(renewals.contains("\"automaticPayments\":1"), "\(renewals)")
        }
    }
}
