-- The state at the end of each day, UTC, and what changed during the day. A day ends just before
-- the next midnight: a purchase that runs until that midnight is active on the day.
--
-- A purchase is not repeated for each of its days, because that takes nearly all of the time. It is
-- added to the active ones on its first day and subtracted on the day after its last one; the sums
-- over the days so far are the state of each day.
--
-- The function runs with the rights of its owner, so readers of schema analytics need no rights on
-- the tables. Compiling its plan takes longer than running it, so jit is off. Its COST and ROWS
-- make PostgreSQL find the days that a query of analytics.daily_snapshot reads before it calls it.
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
LANGUAGE sql STABLE SECURITY DEFINER COST 20000 ROWS 20000
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
WITH repeated AS MATERIALIZED (
    SELECT r.* FROM analytics.repeated_purchases() r
), purchase AS NOT MATERIALIZED (
    SELECT t.* FROM analytics.transactions t
    WHERE NOT EXISTS (
        SELECT FROM repeated r
        WHERE r.lane = t.lane AND r.environment = t.environment
            AND r.original_transaction_id = t.original_transaction_id
            AND r.purchase_date_ms = t.purchase_date_ms
            AND r.product_identifier = t.product_identifier)
), running AS (
    -- Active on the days from since to until, the day before the first one included. Where a newer
    -- purchase of the subscription begins by then, it is overlapped.
    SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal, t.product_identifier,
        t.country, t.currency, t.offer_type, t.renewal_number, t.is_paid, t.is_trial_period,
        t.mrr_milliunits, t.added_to_purchase_date_ms, t.start_time,
        (t.end_time AT TIME ZONE 'UTC')::date AS end_day, d.since, d.until,
        lead(d.since) OVER (
            PARTITION BY t.lane, t.environment, t.original_transaction_id
            ORDER BY t.start_time, t.ordinal) <= d.until AS is_overlapped
    FROM purchase t
    CROSS JOIN LATERAL (
        SELECT greatest((t.start_time AT TIME ZONE 'UTC')::date, first_day - 1) AS since,
            least((t.effective_end_time AT TIME ZONE 'UTC')::date - 1, last_day) AS until
    ) d
    WHERE t.start_time < (last_day + interval '1 day') AT TIME ZONE 'UTC'
        AND t.effective_end_time >= first_day::timestamp AT TIME ZONE 'UTC'
        AND t.start_time < t.effective_end_time AND d.since <= d.until
        AND (t.is_paid OR t.is_trial_period AND NOT t.is_shared)
), judged AS MATERIALIZED (
    SELECT r.*, daterange(r.since, r.until, '[]') AS days, bool_or(r.is_overlapped) OVER (
        PARTITION BY r.lane, r.environment, r.original_transaction_id) AS has_overlap
    FROM running r
), standing AS (
    -- If two purchases of one subscription run at the same time, the newer one counts: the other
    -- one only on the days on which no newer one runs. Few subscriptions have such purchases.
    SELECT j.*, j.days AS own_days FROM judged j WHERE j.has_overlap IS NOT TRUE
    UNION ALL
    SELECT j.*, unnest(datemultirange(j.days) - coalesce(range_agg(j.days) OVER (
        PARTITION BY j.lane, j.environment, j.original_transaction_id
        ORDER BY j.start_time DESC, j.ordinal DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), '{}'))
    FROM judged j WHERE j.has_overlap
), part AS MATERIALIZED (
    SELECT s.lane, s.environment, s.original_transaction_id, s.product_identifier, s.country,
        s.currency, s.offer_type, s.renewal_number, s.is_paid, s.is_trial_period, s.end_day,
        s.mrr_milliunits, s.added_to_purchase_date_ms,
        lower(s.own_days) AS since, upper(s.own_days) - 1 AS until
    FROM standing s
), paid AS (
    SELECT p.*, lag(p.until) OVER stream AS until_before, lead(p.since) OVER stream AS since_next
    FROM part p WHERE p.is_paid
    WINDOW stream AS (
        PARTITION BY p.lane, p.environment, p.original_transaction_id ORDER BY p.since)
), retried AS (
    SELECT t.*, r.since, r.until
    FROM projection.renewal_states s
    CROSS JOIN LATERAL (
        SELECT t.environment, t.product_identifier, t.country, t.currency, t.offer_type,
            t.renewal_number, (t.start_time AT TIME ZONE 'UTC')::date AS start_day,
            lead((t.start_time AT TIME ZONE 'UTC')::date) OVER (
                ORDER BY t.start_time, t.ordinal) AS next_day
        FROM purchase t
        WHERE t.lane = s.lane AND t.environment = s.environment
            AND t.original_transaction_id = s.original_transaction_id AND t.is_auto_renewable
    ) t
    CROSS JOIN LATERAL (
        SELECT greatest((s.valid_from AT TIME ZONE 'UTC')::date, t.start_day, first_day) AS since,
            least((s.valid_to AT TIME ZONE 'UTC')::date, t.next_day, last_day + 1) - 1 AS until
    ) r
    WHERE s.status = 'billing_retry'
        AND s.valid_from < (last_day + interval '1 day') AT TIME ZONE 'UTC'
        AND (s.valid_to IS NULL OR s.valid_to >= first_day::timestamp AT TIME ZONE 'UTC')
        AND r.since <= r.until
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
            SELECT FROM repeated r
            WHERE r.lane = m.lane AND r.environment = m.environment
                AND r.original_transaction_id = m.original_transaction_id
                AND r.purchase_date_ms = m.purchase_date_ms
                AND r.product_identifier = m.product_identifier)
), change AS (
    -- What is added to a state, or subtracted from it, and what happened, by day. A day has a row
    -- where a state has one (rows_standing) or something happened (rows_moved), even if it is 0.
    SELECT e.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, e.n AS rows_standing, 0 AS rows_moved,
        p.is_paid::integer * e.n AS active_paid, p.is_trial_period::integer * e.n AS active_trial,
        0 AS in_grace, 0 AS in_retry, 0 AS set_to_expire,
        CASE WHEN p.added_to_purchase_date_ms IS NULL
            THEN coalesce(p.mrr_milliunits, 0) * e.n ELSE 0 END AS mrr_milliunits,
        0 AS new_paid, 0 AS resubscribed, 0 AS lost, 0 AS trial_starts, 0 AS trial_conversions,
        0 AS churned_voluntary, 0 AS churned_involuntary, 0 AS churned_unknown, 0 AS refunds,
        0::bigint AS given_back_milliunits, 0 AS paid_purchases, 0 AS paid_purchases_refunded,
        0::bigint AS gross_milliunits, 0::bigint AS net_milliunits
    FROM part p CROSS JOIN LATERAL (VALUES (p.since, 1), (p.until + 1, -1)) AS e (day, n)
    UNION ALL
    SELECT e.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, 0, 0, 0, 0, 0, 0, 0, x.mrr_milliunits * e.n, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0
    -- A period to which seats were added has the recurring revenue of all its transactions.
    FROM part p
    CROSS JOIN LATERAL (
        SELECT x.mrr_milliunits,
            greatest((x.start_time AT TIME ZONE 'UTC')::date, p.since) AS since,
            least((x.effective_end_time AT TIME ZONE 'UTC')::date - 1, p.until) AS until
        FROM analytics.transactions x
        WHERE x.lane = p.lane AND x.environment = p.environment
            AND x.original_transaction_id = p.original_transaction_id
            AND p.added_to_purchase_date_ms IN (x.purchase_date_ms, x.added_to_purchase_date_ms)
            AND x.effective_end_time IS NOT NULL AND x.mrr_milliunits IS NOT NULL
        -- Looked up by subscription: only few have added seats.
        OFFSET 0
    ) x
    CROSS JOIN LATERAL (VALUES (x.since, 1), (x.until + 1, -1)) AS e (day, n)
    WHERE p.added_to_purchase_date_ms IS NOT NULL AND x.since <= x.until
    UNION ALL
    SELECT e.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, 0, 0, 0, 0, e.n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM part p
    CROSS JOIN LATERAL (VALUES (greatest(p.since, p.end_day), 1), (p.until + 1, -1)) AS e (day, n)
    WHERE p.end_day <= p.until
    UNION ALL
    SELECT e.day, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, 0, 0, 0, 0, 0, 0, e.n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM part p
    JOIN projection.renewal_states s
        ON s.lane = p.lane AND s.environment = p.environment
            AND s.original_transaction_id = p.original_transaction_id
    CROSS JOIN LATERAL (
        SELECT greatest((s.valid_from AT TIME ZONE 'UTC')::date, p.since) AS since,
            least((s.valid_to AT TIME ZONE 'UTC')::date - 1, p.until) AS until
    ) d
    CROSS JOIN LATERAL (VALUES (d.since, 1), (d.until + 1, -1)) AS e (day, n)
    WHERE p.is_paid AND NOT s.is_auto_renew_on AND d.since <= d.until
        AND s.valid_from < (last_day + interval '1 day') AT TIME ZONE 'UTC'
        AND (s.valid_to IS NULL OR s.valid_to >= first_day::timestamp AT TIME ZONE 'UTC')
    UNION ALL
    SELECT e.day, r.environment, r.product_identifier, r.country, r.currency, r.offer_type,
        r.renewal_number, e.n, 0, 0, 0, 0, e.n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM retried r CROSS JOIN LATERAL (VALUES (r.since, 1), (r.until + 1, -1)) AS e (day, n)
    UNION ALL
    SELECT p.since, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, 0, 1, 0, 0, 0, 0, 0, 0, (NOT f.was_paid)::integer,
        f.was_paid::integer, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM paid p
    CROSS JOIN LATERAL (
        SELECT EXISTS (
            SELECT FROM purchase t
            WHERE t.lane = p.lane AND t.environment = p.environment
                AND t.original_transaction_id = p.original_transaction_id AND t.is_paid
                AND t.start_time < p.since::timestamp AT TIME ZONE 'UTC') AS was_paid
    ) f
    WHERE p.until_before IS DISTINCT FROM p.since - 1 AND p.since >= first_day
    UNION ALL
    SELECT p.until + 1, p.environment, p.product_identifier, p.country, p.currency, p.offer_type,
        p.renewal_number, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM paid p
    WHERE p.since_next IS DISTINCT FROM p.until + 1
    UNION ALL
    SELECT m.day, m.environment, m.product_identifier, m.country, m.currency, m.offer_type,
        m.renewal_number, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
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
        t.currency, t.offer_type, t.renewal_number, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, t.is_paid::integer, (t.is_paid AND t.refunded_at IS NOT NULL)::integer,
        coalesce(t.purchase_price_milliunits, 0), coalesce(t.price_milliunits, 0)
    FROM purchase t
    WHERE t.start_time >= first_day::timestamp AT TIME ZONE 'UTC'
        AND t.start_time < (last_day + interval '1 day') AT TIME ZONE 'UTC'
        AND NOT t.is_shared
), changed AS (
    SELECT c.day, c.environment, c.product_identifier, c.country, c.currency, c.offer_type,
        c.renewal_number, sum(c.rows_standing)::integer AS rows_standing,
        sum(c.rows_moved)::integer AS rows_moved, sum(c.active_paid)::integer AS active_paid,
        sum(c.active_trial)::integer AS active_trial, sum(c.in_grace)::integer AS in_grace,
        sum(c.in_retry)::integer AS in_retry, sum(c.set_to_expire)::integer AS set_to_expire,
        sum(c.mrr_milliunits)::bigint AS mrr_milliunits, sum(c.new_paid) AS new_paid,
        sum(c.resubscribed) AS resubscribed, sum(c.lost) AS lost,
        sum(c.trial_starts) AS trial_starts, sum(c.trial_conversions) AS trial_conversions,
        sum(c.churned_voluntary) AS churned_voluntary,
        sum(c.churned_involuntary) AS churned_involuntary,
        sum(c.churned_unknown) AS churned_unknown, sum(c.refunds) AS refunds,
        sum(c.given_back_milliunits)::bigint AS given_back_milliunits,
        sum(c.paid_purchases) AS paid_purchases,
        sum(c.paid_purchases_refunded) AS paid_purchases_refunded,
        sum(c.gross_milliunits)::bigint AS gross_milliunits,
        sum(c.net_milliunits)::bigint AS net_milliunits
    FROM change c
    GROUP BY c.day, c.environment, c.product_identifier, c.country, c.currency, c.offer_type,
        c.renewal_number
), summed AS (
    SELECT c.day, lead(c.day) OVER part AS next_day, c.environment, c.product_identifier,
        c.country, c.currency, c.offer_type, c.renewal_number,
        sum(c.rows_standing) OVER part AS rows_standing, c.rows_moved,
        sum(c.active_paid) OVER part AS active_paid,
        sum(c.active_trial) OVER part AS active_trial, sum(c.in_grace) OVER part AS in_grace,
        sum(c.in_retry) OVER part AS in_retry, sum(c.set_to_expire) OVER part AS set_to_expire,
        (sum(c.mrr_milliunits) OVER part)::bigint AS mrr_milliunits, c.new_paid, c.resubscribed,
        c.lost, c.trial_starts, c.trial_conversions, c.churned_voluntary, c.churned_involuntary,
        c.churned_unknown, c.refunds, c.given_back_milliunits, c.paid_purchases,
        c.paid_purchases_refunded, c.gross_milliunits, c.net_milliunits
    FROM changed c
    WINDOW part AS (
        PARTITION BY c.environment, c.product_identifier, c.country, c.currency, c.offer_type,
            c.renewal_number
        ORDER BY c.day)
)
SELECT s.day + n, s.environment, s.product_identifier, s.country, s.currency, s.offer_type,
    s.renewal_number, s.active_paid, s.active_trial, s.in_grace, s.in_retry, s.set_to_expire,
    s.mrr_milliunits, s.new_paid * f.one, s.resubscribed * f.one, s.lost * f.one,
    s.trial_starts * f.one, s.trial_conversions * f.one, s.churned_voluntary * f.one,
    s.churned_involuntary * f.one, s.churned_unknown * f.one, s.refunds * f.one,
    s.given_back_milliunits * f.one, s.paid_purchases * f.one, s.paid_purchases_refunded * f.one,
    s.gross_milliunits * f.one, s.net_milliunits * f.one
FROM summed s
CROSS JOIN LATERAL generate_series(greatest(0, first_day - s.day),
    CASE WHEN s.rows_standing > 0 THEN s.next_day - s.day - 1 ELSE 0 END) AS n
CROSS JOIN LATERAL (SELECT (n = 0)::integer AS one) f
WHERE (s.rows_standing > 0 OR s.rows_moved > 0) AND s.day <= last_day
$$;
COMMENT ON FUNCTION analytics.daily_snapshot_between(date, date) IS
    'The rows of analytics.daily_snapshot from one day to another, both included, UTC: reads no more of the tables than these days need.'
