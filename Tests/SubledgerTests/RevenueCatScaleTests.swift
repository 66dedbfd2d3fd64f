import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// RevenueCat's charts, our reports and the simulator's truth, over many subscriptions of three
/// years.
///
/// `SUBLEDGER_SUBSCRIPTIONS` sets how many (`make acceptance`); the other suites compare few of
/// them with all views.
@Suite(.enabled { await TestServer.isAvailable })
struct RevenueCatScaleTests {
    private static let count =
        ProcessInfo.processInfo.environment["SUBLEDGER_SUBSCRIPTIONS"].flatMap(Int.init) ?? 200
    // Other suites test signatures.
    private static let simulator = AppStoreSimulator(seed: 20_261_124, flaws: .unsigned)
    /// The number of lives in one append.
    private static let sliceCount = 50
    private static let dayLength: Int64 = 86_400_000

    @Test func `reports, charts and the truth agree, day by day`() async throws {
        try await TestServer.shared.withDatabase(from: TestTemplate.migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            let paying = try await Self.fill(ledger)
            _ = try await Projector(log: ledger.log, settings: settings) {
                FoldContext(catalogs: .simulated)
            }.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await session.execute("ANALYZE; SET TIME ZONE 'UTC'")
            try await Self.expectTruth(paying, session)
            for pair in RevenueCatTests.pairs where pair.report != nil {
                try await RevenueCatTests.expectReport(of: pair, session, ledger)
            }
            await session.close()
            await ledger.log.close()
        }
    }

    // The number of paying subscriptions at the end of each day, by the day's number since 1970.
    private static func fill(_ ledger: Ledger) async throws -> [Int64: Int] {
        var paying: [Int64: Int] = [:]
        for start in stride(from: 0, to: count, by: 2 * sliceCount) {
            async let first = told(from: start)
            async let second = told(from: start + sliceCount)
            let slice = try await first + second
            _ = try await ledger.log.append(slice.map(\.verified))
            for day in slice.flatMap(\.payingDays) { paying[day, default: 0] += 1 }
        }
        return paying
    }

    private static func told(from start: Int) async throws -> [ToldLife] {
        try (start..<max(start, min(start + sliceCount, count))).map {
            try ToldLife(simulator.life($0))
        }
    }

    private static func expectTruth(
        _ paying: [Int64: Int],
        _ session: PostgresSession
    ) async throws {
        let last = try await session.query(
            "SELECT (analytics.last_signed_at()::date - 1 - date '1970-01-01')::bigint"
        ).single().int8(0)
        let found = try await session.query(
            """
            SELECT concat_ws(' ', d.day, count(*)) FROM (
                SELECT DISTINCT t.original_transaction_id, g AS day
                FROM analytics.transactions t
                CROSS JOIN LATERAL generate_series(t.start_time::date - date '1970-01-01',
                    t.effective_end_time::date - date '1970-01-01' - 1) g
                WHERE t.is_paid AND t.start_time < t.effective_end_time
            ) d WHERE d.day <= $1 GROUP BY d.day
            """,
            [.int8(last)]
        ).map { try $0.text(0) }
        let expected = paying.filter { $0.key <= last }.map { "\($0.key) \($0.value)" }
        #expect(found.sorted() == expected.sorted())
        #expect(found.count > 700, "\(found.count) days")
    }

    /// A life as its payloads reach a log, and the truth about it.
    private struct ToldLife: Sendable {
        let verified: Verified<[Fact]>
        /// The days at whose end it has a running paid purchase, as numbers since 1970.
        let payingDays: [Int64]

        init(_ life: SubscriptionLife) throws {
            verified = Verified(
                try life.deliveries().flatMap { try UnverifiedReading($0).facts },
                evidence: Evidence(
                    payload: Array(life.originalTransactionId.utf8),
                    kind: .verifyReceiptResponse,
                    source: "test",
                    verification: Verification(trust: .vouched, root: nil),
                    receivedAt: .systemClock()
                )
            )
            var isPaying: [Int64: Bool] = [:]
            // If several purchases run at an instant, the last one counts.
            for purchase in life.tables(from: .unasked).transactions
            where purchase.startTime < purchase.effectiveEndTime {
                let first = purchase.startTime.milliseconds / dayLength
                let end = purchase.effectiveEndTime.milliseconds / dayLength
                let isPaid = (purchase.purchasePriceMilliunits ?? 0) > 0
                for day in first..<max(first, end) { isPaying[day] = isPaid }
            }
            payingDays = life.identity.isFamilyShared ? [] : isPaying.filter(\.value).map(\.key)
        }
    }
}
