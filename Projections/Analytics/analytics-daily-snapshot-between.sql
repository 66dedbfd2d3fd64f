-- The state at the end of each day, UTC, and what changed during the day. A day ends just before the
-- next midnight: a purchase that runs until that midnight is active on the day.
--
-- The function runs with the rights of its owner, so readers of schema analytics need no rights on
-- the tables. Compiling its plan takes thirty times as long as running it, so jit is off.
CREATE OR REPLACE FUNCTION analytics.daily_snapshot_between(first_day date, last_day date)
RETURNS TABLE (
    day date, environment text, product_identifier text, country text, currency text,
    offer_type text, renewal_number integer, active_paid bigint, active_trial bigint,
    in_grace bigint, in_retry bigint, set_to_expire bigint, mrr_milliunits bigint,
    new_paid bigint, resubscribed bigint, lost bigint, trial_starts bigint,
    trial_conversions bigint, churned_voluntary bigint, churned_involuntary bigint,
    churned_unknown bigint, refunds bigint, given_back_milliunits bigint, paid_purchases bigint,
    paid_purchases_refunded bigint, gross_milliunits bigint, net_milliunits bigint
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
WITH bound AS (
    SELECT d::date AS day, (d AT TIME ZONE 'UTC') AS since,
        ((d + interval '1 day') AT TIME ZONE 'UTC') AS until
    FROM generate_series(first_day - interval '1 day', last_day::timestamp, '1 day') AS d
), standing AS (
    -- If two purchases of one subscription run at the same time, the newer one counts; of a period
    -- to which seats were added, all transactions together.
    SELECT DISTINCT ON (b.day, t.lane, t.environment, t.original_transaction_id)
        b.day, b.since, b.until, t.lane, t.environment, t.original_transaction_id,
        t.product_identifier, t.country, t.currency, t.offer_type, t.renewal_number, t.is_paid,
        t.is_trial_period,
        CASE WHEN t.added_to_purchase_date_ms IS NULL THEN t.mrr_milliunits ELSE (
            SELECT sum(x.mrr_milliunits)::bigint FROM analytics.transactions x
            WHERE x.lane = t.lane AND x.environment = t.environment
                AND x.original_transaction_id = t.original_transaction_id
                AND t.added_to_purchase_date_ms
                    IN (x.purchase_date_ms, x.added_to_purchase_date_ms)
                AND x.start_time < b.until AND x.effective_end_time >= b.until
        ) END AS mrr_milliunits,
        t.end_time
    FROM bound b
    JOIN analytics.transactions t
        ON t.start_time < b.until AND t.effective_end_time >= b.until
            AND t.start_time < t.effective_end_time
    WHERE (t.is_paid OR t.is_trial_period AND NOT t.is_shared) AND NOT t.is_repeated
    ORDER BY b.day, t.lane, t.environment, t.original_transaction_id, t.start_time DESC,
        t.ordinal DESC
), paid AS (
    -- Uses window functions, because PostgreSQL plans a self-join of the days as a nested loop.
    SELECT s.*, lag(s.day) OVER stream AS day_before, lead(s.day) OVER stream AS day_after
    FROM standing s WHERE s.is_paid
    WINDOW stream AS (
        PARTITION BY s.lane, s.environment, s.original_transaction_id ORDER BY s.day)
), retried AS (
    SELECT DISTINCT ON (b.day, t.lane, t.environment, t.original_transaction_id)
        b.day, t.environment, t.product_identifier, t.country, t.currency, t.offer_type,
        t.renewal_number
    FROM bound b
    JOIN projection.renewal_states s
        ON s.status = 'billing_retry' AND s.valid_from < b.until
            AND (s.valid_to IS NULL OR s.valid_to >= b.until)
    JOIN analytics.transactions t
        ON t.lane = s.lane AND t.environment = s.environment
            AND t.original_transaction_id = s.original_transaction_id
            AND t.start_time < b.until AND t.is_auto_renewable AND NOT t.is_repeated
    ORDER BY b.day, t.lane, t.environment, t.original_transaction_id, t.start_time DESC,
        t.ordinal DESC
), moved AS (
    SELECT (m.occurred_at AT TIME ZONE 'UTC')::date AS day, m.environment, m.movement,
        m.product_identifier, m.amount_milliunits, m.currency, t.country, t.offer_type,
        t.renewal_number, t.is_trial_conversion, t.is_trial_period
    FROM projection.movements m
    LEFT JOIN LATERAL (
        SELECT x.country, x.offer_type, x.renewal_number, x.is_trial_conversion,
            x.is_trial_period, x.currency
        FROM analytics.transactions x
        WHERE x.lane = m.lane AND x.environment = m.environment
            AND x.original_transaction_id = m.original_transaction_id
            AND x.purchase_date_ms = m.purchase_date_ms
        ORDER BY x.product_identifier = m.product_identifier DESC, x.ordinal LIMIT 1
    ) t ON true
    WHERE m.occurred_at >= first_day::timestamp AT TIME ZONE 'UTC'
        AND m.occurred_at < (last_day + interval '1 day') AT TIME ZONE 'UTC'
        AND NOT m.is_shared AND NOT EXISTS (
            SELECT FROM analytics.repeated_purchases() r
            WHERE r.lane = m.lane AND r.environment = m.environment
                AND r.original_transaction_id = m.original_transaction_id
                AND r.purchase_date_ms = m.purchase_date_ms
                AND r.product_identifier = m.product_identifier)
), part AS (
    SELECT p.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number,
        p.is_paid::integer AS active_paid, p.is_trial_period::integer AS active_trial,
        (p.end_time < p.until)::integer AS in_grace, 0 AS in_retry,
        (p.is_paid AND EXISTS (
            SELECT FROM projection.renewal_states s
            WHERE s.lane = p.lane AND s.environment = p.environment
                AND s.original_transaction_id = p.original_transaction_id
                AND s.valid_from < p.until AND (s.valid_to IS NULL OR s.valid_to >= p.until)
                AND NOT s.is_auto_renew_on))::integer AS set_to_expire,
        p.mrr_milliunits, 0 AS new_paid, 0 AS resubscribed, 0 AS lost, 0 AS trial_starts,
        0 AS trial_conversions, 0 AS churned_voluntary, 0 AS churned_involuntary,
        0 AS churned_unknown, 0 AS refunds, 0::bigint AS given_back_milliunits,
        0 AS paid_purchases, 0 AS paid_purchases_refunded, 0::bigint AS gross_milliunits,
        0::bigint AS net_milliunits
    FROM standing p
    UNION ALL
    SELECT p.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, 0, 0, 0, 0, 0, 0, (f.since >= p.since)::integer,
        (f.since < p.since)::integer, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM paid p
    CROSS JOIN LATERAL (
        SELECT min(t.start_time) AS since FROM analytics.transactions t
        WHERE t.lane = p.lane AND t.environment = p.environment
            AND t.original_transaction_id = p.original_transaction_id AND t.is_paid
            AND NOT t.is_repeated
    ) f
    WHERE p.day_before IS DISTINCT FROM p.day - 1
    UNION ALL
    SELECT p.day + 1, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM paid p
    WHERE p.day_after IS DISTINCT FROM p.day + 1
    UNION ALL
    SELECT r.day, r.environment, r.product_identifier, r.country, r.currency, r.offer_type,
        r.renewal_number, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM retried r
    UNION ALL
    SELECT m.day, m.environment, m.product_identifier, m.country, m.currency, m.offer_type,
        m.renewal_number, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        (m.movement IN ('offer_start', 'offer_renewal') AND m.is_trial_period)::integer,
        (m.movement IN ('conversion', 'renewal', 'offer_start', 'offer_renewal')
            AND m.is_trial_conversion)::integer,
        (m.movement IN ('churn_voluntary', 'churn_price_increase',
            'churn_product_unavailable'))::integer,
        (m.movement = 'churn_involuntary')::integer, (m.movement = 'churn_unknown')::integer,
        (m.movement = 'exit_refund')::integer - (m.movement = 'refund_reversed')::integer,
        CASE WHEN m.movement IN ('exit_refund', 'refund_reversed')
            THEN -coalesce(m.amount_milliunits, 0) ELSE 0 END, 0, 0, 0, 0
    FROM moved m
    UNION ALL
    SELECT (t.start_time AT TIME ZONE 'UTC')::date, t.environment, t.product_identifier, t.country,
        t.currency, t.offer_type, t.renewal_number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        t.is_paid::integer, (t.is_paid AND t.refunded_at IS NOT NULL)::integer,
        coalesce(t.purchase_price_milliunits, 0), coalesce(t.price_milliunits, 0)
    FROM analytics.transactions t
    WHERE t.start_time >= first_day::timestamp AT TIME ZONE 'UTC'
        AND t.start_time < (last_day + interval '1 day') AT TIME ZONE 'UTC'
        AND NOT t.is_shared AND NOT t.is_repeated
)
SELECT p.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
    p.renewal_number, sum(p.active_paid), sum(p.active_trial), sum(p.in_grace), sum(p.in_retry),
    sum(p.set_to_expire), coalesce(sum(p.mrr_milliunits), 0)::bigint, sum(p.new_paid),
    sum(p.resubscribed), sum(p.lost), sum(p.trial_starts), sum(p.trial_conversions),
    sum(p.churned_voluntary), sum(p.churned_involuntary), sum(p.churned_unknown),
    sum(p.refunds), sum(p.given_back_milliunits)::bigint, sum(p.paid_purchases),
    sum(p.paid_purchases_refunded), sum(p.gross_milliunits)::bigint,
    sum(p.net_milliunits)::bigint
FROM part p
WHERE p.day BETWEEN first_day AND last_day
GROUP BY p.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
    p.renewal_number
$$;
COMMENT ON FUNCTION analytics.daily_snapshot_between(date, date) IS
    'The rows of analytics.daily_snapshot from one day to another, both included, UTC: reads no more of the tables than these days need.'
