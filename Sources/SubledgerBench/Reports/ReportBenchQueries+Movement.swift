extension ReportBenchQueries {
    // The months of the question, cut at its days.
    private static let months = """
        month AS (
            SELECT to_char(d, 'YYYY-MM') AS month, greatest(d, $1::date)::timestamptz AS since,
                least(d + interval '1 month', $2::date + 1)::timestamptz AS until
            FROM generate_series(date_trunc('month', $1::date), $2::date, interval '1 month') d
        )
        """

    // What had come about of a purchase p before an instant.
    private static func standing(before instant: String) -> String {
        """
        LATERAL (
            SELECT v.*, CASE
                WHEN \(instant) >= p.until OR p.stop < \(instant) THEN v.paid - v.back - v.estimate
                WHEN v.paid = 0 THEN 0
                ELSE div((v.paid - v.back) * extract(epoch FROM \(instant) - p.since),
                    extract(epoch FROM p.until - p.since)) END AS earned
            FROM (
                SELECT u.paid, u.back,
                    CASE WHEN p.replaced_at < \(instant) THEN p.estimate ELSE 0 END AS estimate
                FROM (SELECT (p.since < \(instant))::int * p.price AS paid,
                    CASE WHEN p.refunded_at < \(instant) THEN p.refund ELSE 0 END AS back) u
            ) v
        )
        """
    }

    /// Reports of what is there at the beginning of a month, what comes and goes, and what is left.
    static let ofMovement = [
        "deferred-revenue": """
        , \(months), purchase AS MATERIALIZED (
            SELECT t.currency, t.start_time AS since, t.purchase_price_milliunits AS price,
                CASE WHEN t.is_auto_renewable THEN t.end_time ELSE t.start_time END AS until,
                CASE WHEN t.is_auto_renewable THEN least(t.effective_end_time, c.effective_at) END
                    AS stop,
                t.refunded_at, t.purchase_price_milliunits - t.price_milliunits AS refund,
                c.effective_at AS replaced_at, c.estimate
            FROM projection.transactions t
            LEFT JOIN LATERAL (
                SELECT c.effective_at, least(c.estimated_refund_milliunits,
                    CASE WHEN t.refunded_at >= $4 THEN t.purchase_price_milliunits
                        ELSE t.price_milliunits END) AS estimate
                FROM projection.plan_changes c
                WHERE c.lane = t.lane AND c.environment = t.environment
                    AND c.original_transaction_id = t.original_transaction_id
                    AND c.previous_product_identifier = t.product_identifier
                    AND c.estimated_refund_milliunits IS NOT NULL
                    AND t.start_time <= c.effective_at AND c.effective_at < t.end_time
                    AND c.effective_at <= $4
            ) c ON true
            WHERE t.environment = $3 AND NOT t.is_shared AND t.purchase_price_milliunits <> 0
                AND t.start_time <= $4
        )
        SELECT concat(x.month, '|', x.currency, '|', x.opening, '|', x.gross, '|', x.back, '|',
            x.estimate, '|', x.earned, '|', x.opening + x.gross - x.back - x.estimate - x.earned)
        FROM (
            SELECT m.month, p.currency, sum(a.paid - a.back - a.estimate - a.earned) AS opening,
                sum(b.paid - a.paid) AS gross, sum(b.back - a.back) AS back,
                sum(b.estimate - a.estimate) AS estimate, sum(b.earned - a.earned) AS earned
            FROM month m
            JOIN purchase p ON p.since < m.until
                AND greatest(p.until, p.refunded_at, p.replaced_at) >= m.since,
                \(standing(before: "m.since")) a, \(standing(before: "m.until")) b
            GROUP BY m.month, p.currency
        ) x WHERE x.opening <> 0 OR x.gross <> 0 OR x.back <> 0 OR x.earned <> 0
        """,
        "mrr-movement": """
        , \(months), edge AS (
            SELECT row_number() OVER (ORDER BY until) AS place, month, since, until FROM month
        ), there AS MATERIALIZED (
            SELECT DISTINCT ON (e.place, t.lane, t.original_transaction_id) e.place, t.lane,
                t.original_transaction_id, t.currency, t.is_paid, t.mrr_milliunits AS mrr
            FROM edge e JOIN analytics.transactions t ON t.environment = $3
                AND t.start_time < e.until AND t.effective_end_time >= e.until
                AND t.start_time < t.effective_end_time
            WHERE t.is_paid OR t.is_trial_period
            ORDER BY e.place, t.lane, t.original_transaction_id, t.start_time DESC, t.ordinal DESC
        ), paid AS (
            SELECT h.*, coalesce(h.mrr, 0) AS amount FROM there h WHERE h.is_paid
        ), first AS (
            SELECT t.lane, t.original_transaction_id, min(t.start_time) AS first
            FROM analytics.transactions t WHERE t.environment = $3 AND t.is_paid GROUP BY 1, 2
        )
        SELECT concat(x.month, '|', x.currency, '|', x.opening, '|', x.new, '|', x.again, '|',
            x.more, '|', x.less, '|', x.gone, '|', 0, '|',
            x.opening + x.new + x.again + x.more + x.less + x.gone, '|',
            round(10000.0 * (x.opening + x.less + x.gone) / nullif(x.opening, 0)), '|',
            round(10000.0 * (x.opening + x.more + x.less + x.gone) / nullif(x.opening, 0)))
        FROM (
            SELECT e.month, coalesce(a.currency, b.currency) AS currency,
                coalesce(sum(a.amount), 0) AS opening,
                coalesce(sum(b.amount) FILTER (WHERE a.lane IS NULL AND f.first >= e.since), 0)
                    AS new,
                coalesce(sum(b.amount) FILTER (WHERE a.lane IS NULL AND f.first < e.since), 0)
                    AS again,
                coalesce(sum(greatest(b.amount - a.amount, 0)) FILTER (
                    WHERE a.lane IS NOT NULL AND b.lane IS NOT NULL), 0) AS more,
                coalesce(sum(least(b.amount - a.amount, 0)) FILTER (
                    WHERE a.lane IS NOT NULL AND b.lane IS NOT NULL), 0) AS less,
                coalesce(sum(-a.amount) FILTER (WHERE b.lane IS NULL), 0) AS gone
            FROM paid b
            FULL JOIN (SELECT p.*, p.place + 1 AS next FROM paid p) a ON a.next = b.place
                AND a.lane = b.lane AND a.original_transaction_id = b.original_transaction_id
            JOIN edge e ON e.place = coalesce(b.place, a.next)
            LEFT JOIN first f ON f.lane = b.lane
                AND f.original_transaction_id = b.original_transaction_id
            GROUP BY e.month, coalesce(a.currency, b.currency)
        ) x
        """,
        "refunds": """
        SELECT concat(to_char(m.occurred_at, 'YYYY-MM'), '|', CASE t.revocation_reason
                WHEN 1 THEN 'app_issue' WHEN 0 THEN 'other' END, '|', m.currency, '|', count(*),
            '|', 0, '|', -sum(m.amount_milliunits), '|', 0, '|', -sum(m.amount_milliunits))
        FROM projection.movements m
        JOIN projection.transactions t ON t.lane = m.lane AND t.environment = m.environment
            AND t.original_transaction_id = m.original_transaction_id
            AND t.purchase_date_ms = m.purchase_date_ms
            AND t.product_identifier = m.product_identifier
        WHERE m.environment = $3 AND NOT m.is_shared AND m.movement = 'exit_refund'
            AND m.occurred_at >= $1::date AND m.occurred_at < $2::date + 1
        GROUP BY to_char(m.occurred_at, 'YYYY-MM'), t.revocation_reason, m.currency
        """,
        "offers": """
        SELECT concat(x.offer_type, '|', x.offer, '|', x.offer_discount_type, '|', count(*), '|',
            count(x.paid_at), '|', count(*) FILTER (WHERE x.paid_at IS NULL AND x.last >= $4), '|',
            round(10000.0 * count(x.paid_at)
                / nullif(count(*) FILTER (WHERE x.paid_at IS NOT NULL OR x.last < $4), 0)))
        FROM (
            SELECT t.*, lag(t.offer_type) OVER stream AS type_before,
                lag(t.offer) OVER stream AS offer_before,
                min(t.start_time) FILTER (WHERE t.is_paid AND t.offer_type = 'none')
                    OVER later AS paid_at,
                max(t.effective_end_time) OVER onwards AS last
            FROM analytics.transactions t
            WHERE t.environment = $3 AND t.is_auto_renewable AND NOT t.is_shared
                AND t.start_time <= $4
            WINDOW stream AS (PARTITION BY t.lane, t.original_transaction_id ORDER BY t.ordinal),
                later AS (stream ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
                onwards AS (stream ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
        ) x
        WHERE x.offer_type <> 'none' AND x.start_time >= $1::date AND x.start_time < $2::date + 1
            AND (x.offer_type IS DISTINCT FROM x.type_before
                OR x.offer IS DISTINCT FROM x.offer_before)
        GROUP BY x.offer_type, x.offer, x.offer_discount_type
        """,
        "price-consents": """
        SELECT concat(to_char(x.valid_from, 'YYYY-MM'), '|', t.product_identifier, '|', count(*),
            '|', count(*) FILTER (WHERE x.answer = 'accepted'), '|',
            count(*) FILTER (WHERE x.answer IN ('expired', 'revoked')), '|',
            count(*) FILTER (WHERE x.answer NOT IN ('accepted', 'expired', 'revoked')), '|',
            count(*) FILTER (WHERE x.answer IS NULL), '|',
            round(10000.0 * count(*) FILTER (WHERE x.answer = 'accepted') / nullif(count(*)
                FILTER (WHERE x.answer IN ('accepted', 'expired', 'revoked')), 0)))
        FROM (
            SELECT r.*, lag(r.price_consent) OVER stream AS before, (
                SELECT coalesce(nullif(n.price_consent, 'pending'), n.status)
                FROM projection.renewal_states n
                WHERE n.lane = r.lane AND n.environment = r.environment
                    AND n.original_transaction_id = r.original_transaction_id
                    AND n.ordinal > r.ordinal AND (n.price_consent IS DISTINCT FROM 'pending'
                        OR n.status IN ('expired', 'revoked'))
                    AND n.valid_from <= $4
                ORDER BY n.ordinal LIMIT 1) AS answer
            FROM projection.renewal_states r WHERE r.environment = $3 AND r.valid_from <= $4
            WINDOW stream AS (PARTITION BY r.lane, r.original_transaction_id ORDER BY r.ordinal)
        ) x
        JOIN LATERAL (
            SELECT y.product_identifier FROM projection.transactions y
            WHERE y.lane = x.lane AND y.environment = x.environment
                AND y.original_transaction_id = x.original_transaction_id
                AND y.start_time <= x.valid_from
            ORDER BY y.start_time DESC, y.ordinal DESC LIMIT 1
        ) t ON true
        WHERE x.price_consent = 'pending' AND x.before IS DISTINCT FROM 'pending'
            AND x.valid_from >= $1::date
        GROUP BY to_char(x.valid_from, 'YYYY-MM'), t.product_identifier
        """,
    ]
}
