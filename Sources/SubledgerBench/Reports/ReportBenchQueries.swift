import CommandSupport
import Subledger

/// The queries that a developer would write for a single question, over the tables of projections:
/// the rows of each report as text, its columns joined by bars.
///
/// Parameters are those of reports: the first day, the last one, the environment, and the instant
/// after which nothing counts. They read no more columns and tables than the question needs, and
/// rely on the content of the bench's tables: one lane, no links, no family members' purchases.
enum ReportBenchQueries {
    /// Every report over tables, with its query.
    static func all() throws -> [ReportBenchCase] {
        try Report.all.map { report in
            guard
                let query = ofCustomers[report.name] ?? ofTime[report.name] ?? ofMoney[report.name]
                    ?? ofMovement[report.name]
            else {
                throw Failure(Exit.internalError, "report \(report.name) has no hand-written query")
            }
            return ReportBenchCase(name: report.name, question: ReportQuestion(report), sql: query)
        } + variants
    }

    static let paid = """
        t.environment = $3 AND t.is_auto_renewable AND NOT t.is_trial_period
            AND NOT t.is_shared
            AND t.purchase_price_milliunits IS DISTINCT FROM 0
        """

    // What was given back later does not count; the bench's tables have no reversals.
    static let kept = """
        CASE WHEN t.refunded_at >= $4 THEN t.purchase_price_milliunits ELSE t.price_milliunits END
        """

    private static let refunded = "count(*) FILTER (WHERE t.refunded_at < $4)"

    static let asked =
        "t.start_time >= $1::date AND t.start_time < $2::date + 1"

    static let month = "to_char(t.start_time, 'YYYY-MM')"

    private static let ofCustomers = [
        "retention": """
        , member AS MATERIALIZED (\(members)), step AS (\(steps))
        SELECT concat(s.product_identifier, '|', s.period_length, '|', s.n, '|', count(*) FILTER (WHERE s.is_over), '|',
            count(*) FILTER (WHERE s.is_over AND s.is_active), '|',
            round(10000.0 * count(*) FILTER (WHERE s.is_over AND s.is_active)
                / nullif(count(*) FILTER (WHERE s.is_over), 0)), '|',
            count(*) FILTER (WHERE NOT s.is_over AND s.was_active AND s.is_pending))
        FROM step s GROUP BY s.product_identifier, s.period_length, s.n
        HAVING count(*) FILTER (WHERE s.is_over) > 0
        """,
        "cancelled-in-period": """
        , member AS MATERIALIZED (\(members)), step AS (\(steps))
        SELECT concat(s.product_identifier, '|', s.period_length, '|', s.n, '|', count(*), '|',
            sum(s.off), '|',
            round(10000.0 * sum(s.off) / count(*)), '|',
            count(*) FILTER (WHERE s.is_over), '|',
            count(*) FILTER (WHERE s.is_over AND NOT s.is_active), '|',
            round(10000.0 * count(*) FILTER (WHERE s.is_over AND NOT s.is_active)
                / nullif(count(*) FILTER (WHERE s.is_over), 0)))
        FROM (
            SELECT s.*, EXISTS (SELECT FROM projection.movements m
                WHERE m.lane = s.lane AND m.environment = $3
                    AND m.original_transaction_id = s.original_transaction_id
                    AND m.movement = 'auto_renew_off' AND m.occurred_at >= s.since
                    AND m.occurred_at < least(s.until, $4))::int AS off
            FROM step s WHERE s.was_active
        ) s GROUP BY s.product_identifier, s.period_length, s.n
        """,
        "payments": """
        SELECT concat(x.id, '|', x.currency, '|', x.payments, '|', x.refunds, '|', x.gross, '|',
            x.gross - x.net, '|', x.net, '|', (extract(epoch FROM x.first) * 1000)::bigint, '|',
            (extract(epoch FROM x.last) * 1000)::bigint)
        FROM (
            SELECT coalesce(c.customer, lower(c.app_account_token), t.original_transaction_id) AS id,
                t.currency, count(*) AS payments, \(refunded) AS refunds,
                sum(t.purchase_price_milliunits)::bigint AS gross,
                sum(\(kept))::bigint AS net, min(t.start_time) AS first,
                max(t.start_time) AS last
            FROM projection.transactions t
            LEFT JOIN projection.customers c ON c.lane = t.lane AND c.environment = t.environment
                AND c.original_transaction_id = t.original_transaction_id
                AND c.valid_from <= t.start_time
                AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
            WHERE \(paid) AND \(asked) AND t.start_time <= $4
            GROUP BY 1, 2
            ORDER BY payments DESC, 1, 2 LIMIT 1000
        ) x
        """,
        "renewals": """
        SELECT concat(\(month), '|', count(*), '|', count(*) FILTER (WHERE NOT a), '|',
            count(*) FILTER (WHERE a), '|', round(10000.0 * count(*) FILTER (WHERE a) / count(*)),
            '|', count(*) FILTER (WHERE t.transaction_reason IS NULL))
        FROM projection.transactions t
        CROSS JOIN LATERAL (SELECT coalesce(t.transaction_reason = 'RENEWAL',
            t.renewal_number > 1 AND t.plan_change IS NULL) AS a) r
        WHERE \(paid) AND \(asked) GROUP BY \(month)
        """,
        "switches": """
        SELECT concat(t.previous_product_identifier, '|', t.product_identifier, '|', t.plan_change,
            '|', count(*), '|', count(DISTINCT t.original_transaction_id))
        FROM projection.transactions t
        WHERE t.environment = $3 AND t.plan_change IS NOT NULL AND \(asked)
        GROUP BY t.previous_product_identifier, t.product_identifier, t.plan_change
        """,
    ]

    // First payments of the requested months.
    private static let members = """
        SELECT DISTINCT ON (t.lane, t.original_transaction_id) t.lane, t.original_transaction_id,
            t.product_identifier, t.start_time,
            coalesce(t.product_duration, t.billing_duration) AS period_length,
            coalesce(t.product_duration, t.billing_duration)::interval AS length
        FROM analytics.transactions t
        WHERE t.environment = $3 AND t.is_paid
            AND coalesce(t.product_duration, t.billing_duration) IS NOT NULL
            AND t.start_time <= $4
        ORDER BY t.lane, t.original_transaction_id, t.start_time, t.ordinal
        """

    // Their periods, with whether they paid at the beginning and at the end of each.
    private static let steps = """
        SELECT m.lane, m.original_transaction_id, m.product_identifier, m.period_length, n,
            m.start_time + (n - 1) * m.length AS since, m.start_time + n * m.length AS until,
            m.start_time + n * m.length <= $4 AS is_over,
            n = 1 OR p.spans @> m.start_time + (n - 1) * m.length AS was_active,
            p.spans @> m.start_time + n * m.length AS is_active,
            p.spans @> $4::timestamptz AND r.is_off IS NULL AS is_pending
        FROM member m
        JOIN (
            SELECT t.lane, t.original_transaction_id,
                range_agg(tstzrange(t.start_time, greatest(t.start_time, t.effective_end_time)))
                    AS spans
            FROM projection.transactions t WHERE \(paid) GROUP BY 1, 2
        ) p USING (lane, original_transaction_id)
        LEFT JOIN (
            SELECT DISTINCT lane, original_transaction_id, true AS is_off
            FROM projection.renewal_states
            WHERE environment = $3 AND valid_from <= $4 AND (valid_to IS NULL OR $4 < valid_to)
                AND NOT is_auto_renew_on
        ) r USING (lane, original_transaction_id)
        CROSS JOIN LATERAL generate_series(1, 1 + (extract(epoch FROM $4 - m.start_time)::bigint
            / greatest(extract(epoch FROM m.length)::bigint, 1))::int) n
        WHERE m.start_time >= date_trunc('month', $1::date) AND m.start_time < $2::date + 1
        """

    // The last days of months, and the last day.
    private static let monthEnds = """
        (SELECT d AS day, (d + 1)::timestamptz AS until FROM (
            SELECT least((m + interval '1 month')::date - 1, $2::date) AS d FROM generate_series(
                date_trunc('month', $1::date), $2::date, interval '1 month') m) e) b
        """

    private static let ofTime = [
        "active": """
        SELECT concat(x.day, '|', sum(x.paid), '|', sum(x.trial), '|', sum(x.grace), '|',
            sum(x.retried), '|', sum(x.off))
        FROM (
            SELECT s.day, s.is_paid::int AS paid, s.is_trial_period::int AS trial,
                (s.end_time < s.until)::int AS grace, 0 AS retried,
                (s.is_paid AND EXISTS (SELECT FROM projection.renewal_states r
                    WHERE r.lane = s.lane AND r.environment = $3
                        AND r.original_transaction_id = s.original_transaction_id
                        AND r.valid_from < s.until
                        AND (r.valid_to IS NULL OR r.valid_to >= s.until)
                        AND NOT r.is_auto_renew_on))::int AS off
            FROM (\(standing)) s
            UNION ALL
            SELECT DISTINCT ON (b.day, r.lane, r.original_transaction_id) b.day, 0, 0, 0, 1, 0
            FROM \(monthEnds)
            JOIN projection.renewal_states r ON r.environment = $3
                AND r.status = 'billing_retry' AND r.valid_from < b.until
                AND (r.valid_to IS NULL OR r.valid_to >= b.until)
        ) x GROUP BY x.day
        """,
        "churn": """
        , alive AS MATERIALIZED (
            SELECT t.lane, t.original_transaction_id, min(t.start_time) AS first,
                range_agg(daterange(t.start_time::date, t.effective_end_time::date)) AS days
            FROM projection.transactions t WHERE \(paid) AND t.start_time < t.effective_end_time
            GROUP BY 1, 2
        ), island AS MATERIALIZED (
            SELECT a.lane, a.original_transaction_id, a.first, lower(d) AS since,
                upper(d) AS until
            FROM alive a, unnest(a.days) d
        ), month AS (
            SELECT to_char(d, 'YYYY-MM') AS month, greatest(d::date, $1::date) AS day,
                least(d + interval '1 month - 1 day', $2::date)::date AS last
            FROM generate_series(date_trunc('month', $1::date), $2::date, '1 month') d
        ), there AS (
            SELECT m.month, count(*) AS number, count(*) FILTER (WHERE NOT EXISTS (
                SELECT FROM island l WHERE l.lane = i.lane
                    AND l.original_transaction_id = i.original_transaction_id
                    AND l.since <= m.last AND l.until > m.last)) AS gone
            FROM month m JOIN island i ON i.since < m.day AND i.until >= m.day GROUP BY m.month
        )
        SELECT concat(m.month, '|', coalesce(t.number, 0), '|', coalesce(l.lost, 0), '|',
            coalesce(b.back, 0), '|', coalesce(t.gone, 0), '|',
            round(10000.0 * t.gone / t.number), '|', coalesce(c.voluntary, 0), '|', coalesce(c.involuntary, 0), '|',
            coalesce(c.unknown, 0))
        FROM month m LEFT JOIN there t USING (month)
        LEFT JOIN (SELECT to_char(i.until, 'YYYY-MM') AS month, count(*) AS lost FROM island i
            WHERE i.until BETWEEN $1::date AND $2::date GROUP BY 1) l USING (month)
        LEFT JOIN (SELECT to_char(i.since, 'YYYY-MM') AS month, count(*) AS back FROM island i
            WHERE i.since BETWEEN $1::date AND $2::date AND i.first < i.since GROUP BY 1) b
            USING (month)
        LEFT JOIN (
            SELECT to_char(v.occurred_at, 'YYYY-MM') AS month,
                count(*) FILTER (WHERE v.movement IN ('churn_voluntary', 'churn_price_increase',
                    'churn_product_unavailable')) AS voluntary,
                count(*) FILTER (WHERE v.movement = 'churn_involuntary') AS involuntary,
                count(*) FILTER (WHERE v.movement = 'churn_unknown') AS unknown
            FROM projection.movements v
            WHERE v.environment = $3 AND v.movement LIKE 'churn%' AND NOT v.is_shared
                AND v.occurred_at >= $1::date AND v.occurred_at < $2::date + 1 GROUP BY 1
        ) c USING (month)
        WHERE coalesce(l.lost, b.back, c.voluntary, t.number) IS NOT NULL
        """,
        "trial-conversion": """
        SELECT concat(\(month), '|', count(*), '|', count(*) FILTER (WHERE t.converted), '|',
            count(*) FILTER (WHERE t.running), '|', round(10000.0
                * count(*) FILTER (WHERE t.converted)
                / nullif(count(*) FILTER (WHERE NOT t.running), 0)))
        FROM (
            SELECT t.start_time, coalesce(n.is_trial_conversion, false) AS converted,
                n.start_time IS NULL AND t.effective_end_time > $4 AS running
            FROM projection.transactions t
            LEFT JOIN LATERAL (SELECT y.is_trial_conversion, y.start_time
                FROM projection.transactions y
                WHERE y.original_transaction_id = t.original_transaction_id
                    AND y.environment = $3 AND y.lane = t.lane AND y.ordinal > t.ordinal
                    AND y.start_time <= $4 ORDER BY y.ordinal LIMIT 1) n ON true
            WHERE t.environment = $3 AND t.is_trial_period AND \(asked)
        ) t GROUP BY \(month)
        """,
        "initial-conversion": """
        SELECT concat(x.month, '|', count(*), '|', sum(x.had_7), '|', sum(x.paid_7), '|',
            round(10000.0 * sum(x.paid_7) / nullif(sum(x.had_7), 0)), '|', sum(x.had_30), '|',
            sum(x.paid_30), '|', round(10000.0 * sum(x.paid_30) / nullif(sum(x.had_30), 0)), '||')
        FROM (
            SELECT to_char(y.first, 'YYYY-MM') AS month,
                (y.first + interval '7 days' <= $4)::int AS had_7,
                (y.first + interval '7 days' <= $4
                    AND coalesce(y.paid <= y.first + interval '7 days', false))::int AS paid_7,
                (y.first + interval '30 days' <= $4)::int AS had_30,
                (y.first + interval '30 days' <= $4
                    AND coalesce(y.paid <= y.first + interval '30 days', false))::int AS paid_30
            FROM (
                SELECT coalesce(c.customer, lower(c.app_account_token), t.original_transaction_id)
                    AS id, min(t.start_time) AS first,
                    min(t.start_time) FILTER (WHERE t.purchase_price_milliunits > 0
                        AND NOT t.is_trial_period) AS paid
                FROM projection.transactions t
                LEFT JOIN projection.customers c ON c.lane = t.lane
                    AND c.environment = t.environment
                    AND c.original_transaction_id = t.original_transaction_id
                    AND c.valid_from <= t.start_time
                    AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
                WHERE t.environment = $3 AND t.start_time <= $4 AND NOT t.is_shared GROUP BY 1
            ) y WHERE y.first >= $1::date AND y.first < $2::date + 1
        ) x GROUP BY x.month
        """,
        "recovery": """
        SELECT concat(x.issue, '|', count(*), '|', count(*) FILTER (WHERE x.next LIKE '%recovered'),
            '|', count(*) FILTER (WHERE x.next IS NULL), '|',
            round(10000.0 * count(*) FILTER (WHERE x.next LIKE '%recovered')
                / nullif(count(x.next), 0)))
        FROM (
            SELECT m.movement, m.occurred_at, lead(m.movement) OVER stream AS next,
                CASE WHEN m.apple_event_sub_type LIKE 'Grace Period%' THEN 'grace' ELSE 'retry' END
                    AS issue
            FROM projection.movements m
            WHERE m.environment = $3 AND NOT m.is_shared AND m.occurred_at <= $4
                AND (m.movement LIKE 'churn%' OR m.movement LIKE 'billing_issue%')
            WINDOW stream AS (PARTITION BY m.lane, m.original_transaction_id ORDER BY m.ordinal)
        ) x
        WHERE x.movement = 'billing_issue_entered' AND x.occurred_at >= $1::date
            AND x.occurred_at < $2::date + 1
        GROUP BY x.issue
        """,
    ]

    // The purchases running at the ends of months: the newest of several.
    private static let standing = """
        SELECT DISTINCT ON (b.day, t.lane, t.original_transaction_id) b.day, b.until, t.lane,
            t.original_transaction_id, t.currency, t.is_paid, t.is_trial_period, t.end_time,
            t.mrr_milliunits
        FROM \(monthEnds)
        JOIN analytics.transactions t ON t.environment = $3 AND t.start_time < b.until
            AND t.effective_end_time >= b.until AND t.start_time < t.effective_end_time
        WHERE t.is_paid OR t.is_trial_period
        ORDER BY b.day, t.lane, t.original_transaction_id, t.start_time DESC, t.ordinal DESC
        """

    static let ofMoney = [
        "seats": """
        SELECT concat(t.product_identifier, '|', b.day, '|', t.invitation_management, '|',
            count(DISTINCT t.original_transaction_id), '|',
            sum(t.quantity - t.revoked_seat_quantity), '|', 0, '|',
            sum(t.quantity - t.revoked_seat_quantity))
        FROM \(monthEnds)
        JOIN projection.transactions t ON t.environment = $3 AND t.start_time < b.until
            AND t.effective_end_time >= b.until AND t.start_time < t.effective_end_time
        WHERE t.revoked_seat_quantity IS NOT NULL
        GROUP BY t.product_identifier, b.day, t.invitation_management
        """,
        "mrr": """
        SELECT concat(s.day, '|', s.currency, '|', count(*), '|', sum(s.mrr_milliunits), '|',
            12 * sum(s.mrr_milliunits), '|', round(sum(s.mrr_milliunits) / count(*)))
        FROM (\(standing)) s WHERE s.is_paid GROUP BY s.day, s.currency
        """,
        "revenue": """
        SELECT concat(x.month, '|', x.currency, '|', sum(x.gross), '|', sum(x.gross - x.net), '|',
            sum(x.net), '|', sum(x.back), '|', sum(x.gross - x.back), '|', sum(x.estimate))
        FROM (
            SELECT \(month) AS month, t.currency, coalesce(t.purchase_price_milliunits, 0) AS gross,
                coalesce(\(kept), 0) AS net, 0 AS back, 0 AS estimate
            FROM projection.transactions t
            WHERE t.environment = $3 AND \(asked)
                AND NOT t.is_shared
            UNION ALL
            SELECT to_char(m.occurred_at, 'YYYY-MM'), m.currency, 0, 0,
                -coalesce(m.amount_milliunits, 0), 0
            FROM projection.movements m
            WHERE m.environment = $3 AND NOT m.is_shared
                AND m.movement IN ('exit_refund', 'refund_reversed')
                AND m.occurred_at >= $1::date AND m.occurred_at < $2::date + 1
            UNION ALL
            SELECT to_char(c.effective_at, 'YYYY-MM'), c.estimated_refund_currency, 0, 0, 0,
                least(c.estimated_refund_milliunits, t.kept)
            FROM projection.plan_changes c
            LEFT JOIN LATERAL (
                SELECT \(kept) AS kept FROM projection.transactions t
                WHERE t.lane = c.lane AND t.environment = c.environment
                    AND t.original_transaction_id = c.original_transaction_id
                    AND t.product_identifier = c.previous_product_identifier
                    AND t.start_time <= c.effective_at AND t.end_time > c.effective_at
                ORDER BY t.start_time DESC, t.ordinal DESC LIMIT 1
            ) t ON true
            WHERE c.environment = $3 AND c.estimated_refund_milliunits IS NOT NULL
                AND c.effective_at >= $1::date AND c.effective_at < $2::date + 1
        ) x GROUP BY x.month, x.currency
        HAVING sum(x.gross) <> 0 OR sum(x.back) <> 0 OR sum(x.estimate) <> 0
        """,
        "refund-rate": """
        SELECT concat(\(month), '|', count(*), '|', \(refunded), '|',
            round(10000.0 * \(refunded) / count(*)))
        FROM projection.transactions t WHERE \(paid) AND \(asked) GROUP BY \(month)
        """,
        "ltv": """
        SELECT concat(x.currency, '|', count(*), '|', sum(x.payments), '|', sum(x.net), '|',
            round(sum(x.net) / count(*)))
        FROM (
            SELECT coalesce(c.customer, lower(c.app_account_token), t.original_transaction_id) AS id,
                t.currency, min(t.start_time) AS first, count(*) AS payments,
                sum(\(kept)) AS net
            FROM projection.transactions t
            LEFT JOIN projection.customers c ON c.lane = t.lane AND c.environment = t.environment
                AND c.original_transaction_id = t.original_transaction_id
                AND c.valid_from <= t.start_time
                AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
            WHERE \(paid) AND t.start_time <= $4 GROUP BY 1, 2
        ) x WHERE x.first >= $1::date AND x.first < $2::date + 1 GROUP BY x.currency
        """,
        "cohorts": """
        SELECT concat(x.cohort, '|', x.n, '|', x.currency, '|', count(DISTINCT x.stream), '|',
            count(*), '|', sum(x.net))
        FROM (
            SELECT to_char(f, 'YYYY-MM') AS cohort, t.currency, t.original_transaction_id AS stream,
                \(kept) AS net, 12 * (extract(year FROM t.start_time) - extract(year FROM f))
                    + extract(month FROM t.start_time) - extract(month FROM f) AS n, f
            FROM (
                SELECT t.*, min(t.start_time) OVER (PARTITION BY t.lane, t.original_transaction_id)
                    AS f FROM projection.transactions t WHERE \(paid)
            ) t WHERE t.start_time <= $4
        ) x WHERE x.f >= $1::date AND x.f < $2::date + 1 GROUP BY x.cohort, x.n, x.currency
        """,
    ]
}
