import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// The tables that reports read: when they cannot answer, and to whom a payment belongs.
@Suite(.enabled { await TestServer.isAvailable })
struct ReportGroundTests {
    @Test func `tables that are missing, at different positions or of another log do not answer`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let payments = ReportQuestion(try #require(Report.named("payments")))
            func refusal() async -> QuestionError? {
                await #expect(throws: QuestionError.self) { _ = try await ledger.report(payments) }
            }
            let deliveries = FollowTests.deliveries(seed: 21)
            try await ledger.ingest(Array(deliveries.prefix(60)))
            let early = await refusal()
            #expect(early?.code == .tablesNotBuilt)
            #expect(early?.message.contains("`subledger rebuild") == true)

            let projector = ledger.projector
            _ = try await projector.rebuild()
            _ = try await ledger.report(payments)
            try await ledger.ingest(Array(deliveries.dropFirst(60)))
            _ = try await projector.rebuild(projector.projections(named: ["customers"]))
            let apart = await refusal()
            #expect(apart?.code == .tablesNotReady)
            #expect(apart?.message.contains("`subledger follow --once`") == true)

            _ = try await projector.follow(.once("test"))
            _ = try await ledger.report(payments)
            _ = try await FollowTests.texts(
                settings,
                """
                UPDATE projection.ledger_projection
                SET commit_digest = sha256('the log that was lost') RETURNING name
                """
            )
            let lost = await refusal()
            #expect(lost?.code == .tablesNotBuilt)
            #expect(lost?.message.contains("restored or forked") == true, "\(lost?.message ?? "")")
            _ = try await projector.rebuild()
            _ = try await ledger.report(payments)
        }
    }

    @Test func `a payment belongs to the customer who was linked when it was made`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            _ = try await ledger.projector.rebuild()
            let question = ReportQuestion(try #require(Report.named("payments")))
            let before = try await ledger.report(question)
            let purchases = try await FollowTests.texts(settings, Self.longestSQL)
                .map { $0.split(separator: "|").map(String.init) }
            let instants = purchases.compactMap { Int64($0[1]) }
            try #require(purchases.count == instants.count && instants.count > 4)
            // The third payment is Anna's from its first instant; the fifth was made before Ben.
            let links = [("anna", instants[2]), ("ben", instants[4] + 1)]
            for (customer, time) in links {
                let outcome = try await ledger.add(
                    CustomerLink(
                        stream: StreamID(
                            environment: .production,
                            originalTransactionId: purchases[0][0]
                        ),
                        customer: customer,
                        statedBy: "test",
                        reason: "",
                        statedAt: Instant(milliseconds: time)
                    ),
                    isTransfer: customer == "ben",
                    receivedAt: Instant(milliseconds: time)
                )
                guard case .appended = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
            }
            _ = try await ledger.projector.follow(.once("test"))
            let after = try await ledger.report(question)
            #expect(Self.payments(of: "anna", in: after) == 3)
            #expect(Self.payments(of: "ben", in: after) == Int64(instants.count - 5))
            #expect(Self.payments(of: purchases[0][2], in: after) == 2)
            #expect(Self.payments(of: purchases[0][2], in: before) == Int64(instants.count))
            // With the knowledge before the links, the customers do not appear.
            var known = question
            known.knownAt = .offsets(
                Dictionary(
                    uniqueKeysWithValues: before.positions.map { (Int($0.key) ?? -1, $0.value) }
                )
            )
            #expect(try await ledger.report(known).rows == before.rows)
            known.knownAt = .latest
            #expect(try await ledger.report(known).rows == after.rows)
            await ledger.log.close()
        }
    }

    private static func payments(of customer: String, in report: ReportDocument) -> Int64 {
        report.rows.map(ReportRow.init).filter { $0["customerId"] == customer }
            .reduce(0) { $0 + $1.number("paymentsCount") }
    }

    // The payments of the subscription with the most payments, whose customer has no other one: its
    // id, each instant, and its customer by the token.
    private static let longestSQL = """
        SELECT concat_ws('|', original_transaction_id,
            (extract(epoch FROM start_time) * 1000)::bigint,
            coalesce(lower(app_account_token), original_transaction_id))
        FROM analytics.transactions
        WHERE original_transaction_id = (
            SELECT original_transaction_id FROM analytics.transactions t
            WHERE is_paid AND environment = 'Production' AND NOT EXISTS (
                SELECT FROM analytics.transactions o
                WHERE lower(o.app_account_token) = lower(t.app_account_token)
                    AND o.original_transaction_id <> t.original_transaction_id)
            GROUP BY original_transaction_id HAVING count(DISTINCT app_account_token) < 2
            ORDER BY count(*) DESC, 1 LIMIT 1)
            AND is_paid AND start_time < (SELECT analytics.last_signed_at())
        ORDER BY start_time, ordinal
        """
}
