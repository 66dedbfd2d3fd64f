import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// The daily snapshot against a plain model of it, and under the SQL that dashboards write.
@Suite(.enabled { await TestServer.isAvailable })
struct DailySnapshotTests {
    @Test func `each day is what a plain count of its purchases gives`() async throws {
        try await Self.withTables { session in
            let expected = try await Self.model(session)
            #expect(try await Self.snapshot(session) == expected)
            #expect(Set(expected).count > 20)
            // Purchases inside others: the older ones count again when these have ended.
            try await session.execute(
                """
                INSERT INTO projection.transactions
                SELECT (jsonb_populate_record(t, jsonb_build_object(
                    'ordinal', 1000 + t.ordinal, 'store_transaction_id', NULL,
                    'start_time', t.start_time + (t.effective_end_time - t.start_time) / 3,
                    'effective_end_time',
                    t.start_time + (t.effective_end_time - t.start_time) * 2 / 3))).*
                FROM projection.transactions t
                WHERE t.effective_end_time > t.start_time + interval '6 days'
                """
            )
            let crowded = try await Self.model(session)
            #expect(try await Self.snapshot(session) == crowded)
            #expect(crowded != expected)
        }
    }

    @Test func `the view contains the rows of the function, whichever days are read`()
        async throws
    {
        try await Self.withTables { session in
            for (first, last) in [
                ("2024-12-15", "2025-02-15"), ("2025-03-01", "2025-03-31"),
                ("2025-05-10", "2025-05-10"), ("2023-01-01", "2027-01-01"),
            ] {
                let row = try await session.query(
                    """
                    WITH viewed AS (
                        SELECT * FROM analytics.daily_snapshot WHERE day BETWEEN $1::date AND $2::date
                    ), called AS (
                        SELECT s.* FROM analytics.daily_snapshot_between($1::date, $2::date) s
                        WHERE s.day < (analytics.last_signed_at() AT TIME ZONE 'UTC')::date
                    )
                    SELECT (SELECT count(*) FROM viewed),
                        (SELECT count(*) FROM (TABLE viewed EXCEPT ALL TABLE called) x),
                        (SELECT count(*) FROM (TABLE called EXCEPT ALL TABLE viewed) x)
                    """,
                    [.text(first), .text(last)]
                ).single()
                #expect(try row.int8(0) > 0, "\(first)")
                #expect(try row.int8(1) == 0 && row.int8(2) == 0, "\(first) to \(last)")
            }
        }
    }

    @Test func `dashboards read only the months that they filter by`() async throws {
        try await Self.withTables { session in
            let expected = try await session.query(
                """
                SELECT sum(s.active_paid)::bigint
                FROM analytics.daily_snapshot_between('2025-03-01', '2025-03-31') s
                """
            ).single().int8(0)
            // The server counts the calls of a transaction.
            try await session.execute(
                """
                BEGIN; SET LOCAL TIME ZONE 'UTC'; SET LOCAL track_functions = 'all';
                SET LOCAL ROLE ledger_analyst
                """
            )
            var before: Int64 = 0
            for (name, sql) in Self.dashboards {
                let (sum, calls) = try await Self.read(sql, session)
                #expect(sum == expected && calls - before == 1, "\(name): \(sum), \(calls) calls")
                before = calls
            }
            let all = "SELECT 1, active_paid FROM analytics.daily_snapshot"
            #expect(try await Self.read(all, session).calls - before > 24)
            try await session.execute("ROLLBACK")
        }
    }

    // The sum of a query's second column, and how often the function was called by then.
    private static func read(
        _ sql: String,
        _ session: PostgresSession
    ) async throws -> (sum: Int64, calls: Int64) {
        let row = try await session.query(
            """
            SELECT x.n, coalesce(pg_stat_get_xact_function_calls(
                'analytics.daily_snapshot_between(date, date)'::regprocedure), 0)
            FROM (SELECT sum(n)::bigint AS n FROM (\(sql)) s (t, n) OFFSET 0) x
            """
        ).single()
        return (try row.int8(0), try row.int8(1))
    }

    // Each with the forms of its filters and groups.
    private static let dashboards = [
        "Metabase": """
        SELECT DATE_TRUNC('month', "analytics"."daily_snapshot"."day") AS "day",
            SUM("analytics"."daily_snapshot"."active_paid") AS "sum"
        FROM "analytics"."daily_snapshot"
        WHERE ("analytics"."daily_snapshot"."day" >= date '2025-03-01')
            AND ("analytics"."daily_snapshot"."day" < date '2025-04-01')
            AND ("analytics"."daily_snapshot"."environment" = 'Production')
        GROUP BY DATE_TRUNC('month', "analytics"."daily_snapshot"."day")
        ORDER BY DATE_TRUNC('month', "analytics"."daily_snapshot"."day") ASC
        """,
        "Metabase, of a question": """
        SELECT CAST(DATE_TRUNC('month', "source"."day") AS date) AS "day",
            SUM("source"."active_paid") AS "sum"
        FROM (SELECT "analytics"."daily_snapshot"."day" AS "day",
                "analytics"."daily_snapshot"."active_paid" AS "active_paid"
            FROM "analytics"."daily_snapshot") AS "source"
        WHERE "source"."day" BETWEEN date '2025-03-01' AND date '2025-03-31'
        GROUP BY CAST(DATE_TRUNC('month', "source"."day") AS date) LIMIT 2000
        """,
        "Superset": """
        SELECT DATE_TRUNC('month', day) AS __timestamp, sum(active_paid) AS "SUM(active_paid)"
        FROM analytics.daily_snapshot
        WHERE day >= TO_DATE('2025-03-01', 'YYYY-MM-DD')
            AND day < TO_DATE('2025-04-01', 'YYYY-MM-DD')
        GROUP BY DATE_TRUNC('month', day) ORDER BY "SUM(active_paid)" DESC LIMIT 10000
        """,
        "Superset, of a virtual dataset": """
        SELECT DATE_TRUNC('day', day) AS __timestamp, sum(active_paid) AS "SUM(active_paid)"
        FROM (SELECT * FROM analytics.daily_snapshot) AS virtual_table
        WHERE day >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
            AND day < TO_TIMESTAMP('2025-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
        GROUP BY DATE_TRUNC('day', day) ORDER BY "SUM(active_paid)" DESC LIMIT 50000
        """,
        "Grafana, $__timeFilter": """
        SELECT day AS "time", sum(active_paid) AS paid FROM analytics.daily_snapshot
        WHERE day BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T23:59:59Z'
        GROUP BY day ORDER BY day
        """,
        "Grafana, $__timeGroup": """
        SELECT floor(extract(epoch from day)/86400)*86400 AS "time", sum(active_paid) AS paid
        FROM analytics.daily_snapshot
        WHERE day BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-31T23:59:59Z'
            AND offer_type IS NOT NULL
        GROUP BY 1 ORDER BY 1
        """,
        "a month in a zone": """
        SELECT date_trunc('month', day::timestamp AT TIME ZONE 'Europe/Berlin', 'Europe/Berlin'),
            sum(active_paid)
        FROM analytics.daily_snapshot
        WHERE day::timestamp AT TIME ZONE 'Europe/Berlin' >= '2025-03-01 00:00 Europe/Berlin'
            AND day::timestamp AT TIME ZONE 'Europe/Berlin' < '2025-04-01 00:00 Europe/Berlin'
        GROUP BY 1
        """,
        "one month by its name": """
        SELECT to_char(day, 'YYYY-MM'), sum(active_paid) FROM analytics.daily_snapshot
        WHERE date_trunc('month', day) = '2025-03-01' GROUP BY 1
        """,
    ]
}

extension DailySnapshotTests {
    // Subscriptions with seats, bundles and offers of retention are among them.
    private static func withTables(_ body: (PostgresSession) async throws -> Void) async throws {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, .single)
            let simulator = AppStoreSimulator(seed: 20_261_128, extras: .all)
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            try await ledger.ingest(Array(simulator.sampleHistory(count: 80)))
            _ = try await Projector(log: ledger.log, settings: settings) {
                FoldContext(catalogs: .simulated)
            }.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await body(session)
            await session.close()
            await ledger.log.close()
        }
    }

    private static func snapshot(_ session: PostgresSession) async throws -> [String] {
        try await session.query(
            """
            SELECT concat_ws(' ', d::date, coalesce(sum(active_paid), 0),
                coalesce(sum(active_trial), 0), coalesce(sum(in_grace), 0),
                coalesce(sum(in_retry), 0), coalesce(sum(set_to_expire), 0),
                coalesce(sum(mrr_milliunits), 0), coalesce(sum(new_paid + resubscribed), 0),
                coalesce(sum(lost), 0))
            FROM generate_series('2025-05-15'::timestamp, '2025-06-30', interval '1 day') d
            LEFT JOIN analytics.daily_snapshot_between('2025-05-15', '2025-06-30') s
                ON s.day = d::date
            GROUP BY d ORDER BY d
            """
        ).map { try $0.text(0) }
    }

    // Every purchase on every day, one by one.
    private static func model(_ session: PostgresSession) async throws -> [String] {
        try await session.query(
            """
            WITH bound AS (
                SELECT d::date AS day, (d + interval '1 day') AT TIME ZONE 'UTC' AS until
                FROM generate_series('2025-05-14'::date::timestamp, '2025-06-30', '1 day') d
            ), standing AS (
                SELECT DISTINCT ON (b.day, t.lane, t.environment, t.original_transaction_id)
                    b.day, t.*
                FROM bound b JOIN analytics.transactions t
                    ON t.start_time < b.until AND t.effective_end_time >= b.until
                        AND t.start_time < t.effective_end_time
                WHERE (t.is_paid OR t.is_trial_period AND NOT t.is_shared) AND NOT t.is_repeated
                ORDER BY b.day, t.lane, t.environment, t.original_transaction_id,
                    t.start_time DESC, t.ordinal DESC
            ), paid AS (
                SELECT s.day, s.lane, s.environment, s.original_transaction_id
                FROM standing s WHERE s.is_paid
            ), state AS (
                SELECT b.day, r.lane, r.environment, r.original_transaction_id, r.status,
                    r.is_auto_renew_on
                FROM bound b JOIN projection.renewal_states r
                    ON r.valid_from < b.until AND (r.valid_to IS NULL OR r.valid_to >= b.until)
            ), revenue AS (
                SELECT s.day, sum(x.mrr_milliunits) AS mrr_milliunits
                FROM bound b JOIN standing s USING (day)
                JOIN analytics.transactions x
                    ON x.lane = s.lane AND x.environment = s.environment
                        AND x.original_transaction_id = s.original_transaction_id
                        AND (x.ordinal = s.ordinal OR s.added_to_purchase_date_ms
                            IN (x.purchase_date_ms, x.added_to_purchase_date_ms))
                        AND x.start_time < b.until AND x.effective_end_time >= b.until
                GROUP BY s.day
            )
            SELECT concat_ws(' ', b.day,
                (SELECT count(*) FROM paid WHERE day = b.day),
                (SELECT count(*) FROM standing s WHERE s.day = b.day AND s.is_trial_period),
                (SELECT count(*) FROM standing s WHERE s.day = b.day AND s.end_time < b.until),
                (SELECT count(*) FROM state WHERE day = b.day AND status = 'billing_retry'),
                (SELECT count(*) FROM paid JOIN state
                    USING (day, lane, environment, original_transaction_id)
                    WHERE day = b.day AND NOT is_auto_renew_on),
                coalesce((SELECT mrr_milliunits FROM revenue WHERE day = b.day), 0),
                (SELECT count(*) FROM paid p WHERE p.day = b.day AND NOT EXISTS (
                    SELECT FROM paid o WHERE o.day = b.day - 1 AND o.lane = p.lane
                        AND o.environment = p.environment
                        AND o.original_transaction_id = p.original_transaction_id)),
                (SELECT count(*) FROM paid p WHERE p.day = b.day - 1 AND NOT EXISTS (
                    SELECT FROM paid o WHERE o.day = b.day AND o.lane = p.lane
                        AND o.environment = p.environment
                        AND o.original_transaction_id = p.original_transaction_id)))
            FROM bound b WHERE b.day >= '2025-05-15' ORDER BY b.day
            """
        ).map { try $0.text(0) }
    }
}
