import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// What analysts read about sixty simulated subscriptions, compared with the simulator's truth.
@Suite(.enabled { await TestServer.isAvailable })
struct AnalyticsTruthTests {
    @Test func `each day counts the paying subscriptions and what they pay`() async throws {
        try await Analytics.withTables { session in
            let found = try await session.query(
                """
                SELECT d.day::text || ' ' || d.active || ' ' || d.gained
                FROM (SELECT day, sum(active_paid) AS active,
                        sum(new_paid + resubscribed - lost) AS gained
                    FROM analytics.daily_snapshot GROUP BY day) d
                WHERE d.active <> 0 OR d.gained <> 0 ORDER BY 1
                """
            ).map { try $0.text(0) }
            let days = try await Analytics.days(session)
            var (expected, before) = ([String](), 0)
            for (name, end) in days {
                let active = Analytics.lives.count { $0.isPaying(before: end) }
                if active != 0 || active != before {
                    expected.append("\(name) \(active) \(active - before)")
                }
                before = active
            }
            #expect(found == expected)
            #expect(expected.count > 500)
        }
    }

    @Test func `prices of active subscriptions add up to the truth by currency`() async throws {
        try await Analytics.withTables { session in
            for (name, end) in try await Analytics.days(session).filter({ $0.0.hasSuffix("-15") }) {
                let found = try await session.query(
                    """
                    SELECT currency || ' ' || sum(purchase_price_milliunits)
                    FROM (SELECT DISTINCT ON (original_transaction_id) *
                        FROM analytics.transactions
                        WHERE is_paid AND start_time < $1 AND effective_end_time >= $1
                        ORDER BY original_transaction_id, start_time DESC) t
                    GROUP BY currency ORDER BY 1
                    """,
                    [.timestamptz(microseconds: end.milliseconds * 1000)]
                ).map { try $0.text(0) }
                var sums: [String: Int64] = [:]
                for life in Analytics.lives {
                    guard let purchase = life.payment(before: end) else { continue }
                    sums[life.identity.storefront.currency, default: 0] +=
                        purchase.purchasePriceMilliunits ?? 0
                }
                #expect(found == sums.map { "\($0) \($1)" }.sorted(), "\(name)")
            }
        }
    }

    @Test func `every end has the simulator's reason`() async throws {
        try await Analytics.withTables { session in
            let found = try await session.query(
                """
                SELECT concat_ws(' ', sum(churned_voluntary), sum(churned_involuntary),
                    sum(churned_unknown), sum(refunds))
                FROM analytics.daily_snapshot WHERE renewal_number IS NOT NULL
                """
            ).single().text(0)
            let movements = Analytics.lives.flatMap {
                $0.tables(from: .unasked).movements
            }
            func count(_ kinds: SimulatedMovement.Kind...) -> Int {
                movements.count { kinds.contains($0.kind) }
            }
            let expected = [
                count(.churnVoluntary, .churnPriceIncrease, .churnProductUnavailable),
                count(.churnInvoluntary), count(.churnUnknown),
                count(.exitRefund) - count(.refundReversed),
            ]
            #expect(found == expected.map { "\($0)" }.joined(separator: " "))
            #expect(expected.allSatisfy { $0 > 0 })
        }
    }

    @Test func `refunds add up on the day of purchase and on the day of refund`() async throws {
        try await Analytics.withTables { session in
            let bought = try await session.query(
                """
                SELECT concat_ws(' ', to_char(day, 'YYYY-MM'), currency,
                    sum(gross_milliunits - net_milliunits))
                FROM analytics.daily_snapshot WHERE renewal_number IS NOT NULL
                GROUP BY to_char(day, 'YYYY-MM'), currency
                HAVING sum(gross_milliunits - net_milliunits) <> 0 ORDER BY 1
                """
            ).map { try $0.text(0) }
            let refunded = try await session.query(
                """
                SELECT concat_ws(' ', to_char(day, 'YYYY-MM'), currency, sum(given_back_milliunits))
                FROM analytics.daily_snapshot WHERE renewal_number IS NOT NULL
                GROUP BY to_char(day, 'YYYY-MM'), currency
                HAVING sum(given_back_milliunits) <> 0 ORDER BY 1
                """
            ).map { try $0.text(0) }
            var (byPurchase, byRefund) = ([String: Int64](), [String: Int64]())
            for life in Analytics.lives {
                let currency = life.identity.storefront.currency
                let tables = life.tables(from: .unasked)
                for purchase in tables.transactions {
                    let month = "\("\(purchase.startTime)".prefix(7)) \(currency)"
                    byPurchase[month, default: 0] +=
                        (purchase.purchasePriceMilliunits ?? 0) - (purchase.priceMilliunits ?? 0)
                }
                for movement in tables.movements
                where movement.kind == .exitRefund || movement.kind == .refundReversed {
                    let month = "\("\(movement.occurred)".prefix(7)) \(currency)"
                    byRefund[month, default: 0] -= movement.amountMilliunits ?? 0
                }
            }
            #expect(bought == byPurchase.filter { $1 != 0 }.map { "\($0) \($1)" }.sorted())
            #expect(refunded == byRefund.filter { $1 != 0 }.map { "\($0) \($1)" }.sorted())
            #expect(Set(bought) != Set(refunded), "both bases differ")
        }
    }

    @Test func `periods are those of the simulator, and gaps lie between them`() async throws {
        try await Analytics.withTables { session in
            let wrong = try await session.query(
                """
                SELECT count(*) FROM analytics.periods a JOIN analytics.periods b
                    USING (lane, environment, original_transaction_id)
                WHERE a.kind = 'gap' AND b.kind NOT IN ('gap', 'retry')
                    AND a.valid_from < b.valid_to AND b.valid_from < a.valid_to
                """
            ).single().int8(0)
            #expect(wrong == 0)
            for life in FilledLedger.simulator.lives(FilledLedger.lives) {
                let found = try await session.query(
                    """
                    SELECT concat_ws(' ', kind, (extract(epoch FROM valid_from) * 1000)::bigint,
                        (extract(epoch FROM valid_to) * 1000)::bigint)
                    FROM analytics.periods
                    WHERE original_transaction_id = $1 AND kind NOT IN ('gap', 'retry')
                    ORDER BY valid_from, valid_to, kind
                    """,
                    [.text(life.originalTransactionId)]
                ).map { try $0.text(0) }
                let expected = life.periods.filter { $0.validFrom < $0.validTo }.sorted().map {
                    "\($0.kind.rawValue) \($0.validFrom.milliseconds) \($0.validTo.milliseconds)"
                }
                #expect(found == expected, "life \(life.identity.index)")
            }
        }
    }
}

/// The analysts' tables of the filled ledger.
enum Analytics {
    /// The subscriptions with revenue.
    static let lives = FilledLedger.simulator.lives(FilledLedger.lives).filter {
        !$0.identity.isFamilyShared
    }

    static func withTables(_ body: (PostgresSession) async throws -> Void) async throws {
        try await withLedger { session, _ in try await body(session) }
    }

    /// The same with the ledger for report questions.
    static func withLedger(
        _ body: (PostgresSession, Ledger) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            _ = try await Projector(log: ledger.log, settings: settings) {
                FoldContext(catalogs: .simulated)
            }.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await session.execute("SET ROLE ledger_reader")
            try await body(session, ledger)
            await session.close()
            await ledger.log.close()
        }
    }

    /// The days that the snapshot covers, each with the midnight after it.
    static func days(_ session: PostgresSession) async throws -> [(String, Instant)] {
        try await session.query(
            """
            SELECT d::date::text, (extract(epoch FROM d AT TIME ZONE 'UTC') * 1000)::bigint + 86400000
            FROM (SELECT (min(start_time) AT TIME ZONE 'UTC')::date AS first,
                    (analytics.last_signed_at() AT TIME ZONE 'UTC')::date - 1 AS last
                FROM analytics.transactions) b, generate_series(b.first, b.last, interval '1 day') d
            """
        ).map { (try $0.text(0), Instant(milliseconds: try $0.int8(1))) }
    }
}

extension SubscriptionLife {
    /// The newest paid purchase that runs just before an instant.
    fileprivate func payment(before end: Instant) -> SimulatedTransaction? {
        let running = tables(from: .unasked).transactions.last {
            $0.startTime < end && $0.effectiveEndTime >= end && $0.startTime < $0.effectiveEndTime
        }
        return running.flatMap { ($0.purchasePriceMilliunits ?? 0) > 0 ? $0 : nil }
    }

    fileprivate func isPaying(before end: Instant) -> Bool { payment(before: end) != nil }
}
