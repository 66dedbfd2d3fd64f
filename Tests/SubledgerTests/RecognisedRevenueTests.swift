import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// The view of what is earned of each purchase.
@Suite(.enabled { await TestServer.isAvailable })
struct RecognisedRevenueTests {
    @Test func `the view of recognised revenue has the report's numbers, purchase by purchase`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let columns = [
                "opening_deferred", "gross", "given_back_on_refund_date",
                "upgrade_refund_estimate", "recognised", "closing_deferred",
            ]
            let found = try await session.query(
                """
                SELECT to_char(recognised_month, 'YYYY-MM'), product_identifier, country, offer_type, currency,
                    \(columns.map { "sum(\($0)_milliunits)::bigint" }.joined(separator: ", "))
                FROM analytics.recognised_revenue WHERE environment = 'Production'
                GROUP BY 1, 2, 3, 4, 5
                """
            )
            var view: [[String]: [Int64]] = [:]
            for row in found {
                let key = try (0..<5).map { try row.textIfPresent($0) ?? "" }
                view[key] = try columns.indices.map { try row.int8(5 + $0) }
            }
            var question = ReportQuestion(try #require(Report.named("deferred-revenue")))
            question.dimensions = [.month, .product, .country, .offer]
            question.to = Instant("2099-12-31")
            let report = try await ledger.report(question)
            let numbers = report.columns.filter { $0.kind == .money }.map(\.jsonName)
            var expected: [[String]: [Int64]] = [:]
            for row in report.rows.map(ReportRow.init) {
                let key = ["month", "productId", "country", "offerType", "currency"].map { row[$0] }
                expected[key] = numbers.map { row.number($0) }
            }
            #expect(view == expected && view.count > 100)
            #expect(view.values.contains { $0[3] > 0 } && view.values.contains { $0[2] > 0 })
            // Of each purchase, what closes a month opens the next one that it is in.
            let broken = try await session.query(
                """
                SELECT 1 FROM (
                    SELECT closing_deferred_milliunits AS closing, recognised_month AS month,
                        lead(opening_deferred_milliunits) OVER course AS opening,
                        lead(recognised_month) OVER course AS next
                    FROM analytics.recognised_revenue
                    WINDOW course AS (PARTITION BY lane, environment, original_transaction_id,
                        ordinal ORDER BY recognised_month)
                ) r WHERE r.closing <> coalesce(r.opening, 0)
                    AND r.month <> date_trunc('month', analytics.last_signed_at())
                """
            )
            #expect(broken.isEmpty)
        }
    }
}
