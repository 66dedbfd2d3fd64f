-- Retention by cohort. A subscription belongs to the cohort of its first paid purchase, also if that
-- was replaced or refunded at once: the month, UTC, and the product. Period n ends n times the length of that product after this purchase. A
-- subscription is retained if it has paid access at that instant; it had the opportunity if that
-- instant is not after `as_of`.
--
-- The function runs with the rights of its owner, so readers of schema analytics need no rights on
-- the tables. Compiling its plan takes longer than running it, so jit is off.
CREATE OR REPLACE FUNCTION analytics.retention_at(as_of timestamptz)
RETURNS TABLE (
    cohort date, environment text, product_identifier text, period_length text,
    period_number integer,
    cohort_size bigint, had_opportunity bigint, retained bigint, retained_pending bigint,
    ended_in_period bigint, auto_renew_off_in_period bigint, entered_period bigint,
    completed_period bigint
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
WITH purchase AS (
    -- Timestamps are converted to UTC once here, not at each step of each subscription.
    SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal, t.product_identifier,
        t.start_time AT TIME ZONE 'UTC' AS start_time,
        t.effective_end_time AT TIME ZONE 'UTC' AS end_time,
        CASE WHEN t.start_time <= as_of
            THEN coalesce(t.product_duration, t.billing_duration) END AS period_length
    FROM analytics.transactions t
    WHERE t.is_paid AND NOT t.is_repeated
), payer AS MATERIALIZED (
    -- Collects the purchases of each subscription once, because PostgreSQL plans a join for each of
    -- its periods as a nested loop.
    SELECT p.lane, p.environment, p.original_transaction_id,
        coalesce(range_agg(tsrange(p.start_time, p.end_time))
            FILTER (WHERE p.start_time < p.end_time), '{}') AS spans,
        min(p.start_time) FILTER (WHERE p.period_length IS NOT NULL) AS start_time,
        (array_agg(p.product_identifier ORDER BY p.start_time, p.ordinal)
            FILTER (WHERE p.period_length IS NOT NULL))[1] AS product_identifier,
        (array_agg(p.period_length ORDER BY p.start_time, p.ordinal)
            FILTER (WHERE p.period_length IS NOT NULL))[1] AS period_length
    FROM purchase p GROUP BY p.lane, p.environment, p.original_transaction_id
), member AS (
    -- Not materialized, so columns that a query does not read are not computed.
    SELECT p.*, p.period_length::interval AS length, as_of AT TIME ZONE 'UTC' AS asked,
        date_trunc('month', p.start_time)::date AS cohort,
        count(*) OVER (PARTITION BY date_trunc('month', p.start_time), p.environment,
            p.product_identifier, p.period_length) AS members,
        EXISTS (
            SELECT FROM projection.renewal_states r
            WHERE r.lane = p.lane AND r.environment = p.environment
                AND r.original_transaction_id = p.original_transaction_id
                AND r.valid_from <= as_of AND (r.valid_to IS NULL OR as_of < r.valid_to)
                AND NOT r.is_auto_renew_on) AS is_switched_off,
        ARRAY(
            SELECT m.occurred_at AT TIME ZONE 'UTC' FROM projection.movements m
            WHERE m.lane = p.lane AND m.environment = p.environment
                AND m.original_transaction_id = p.original_transaction_id
                AND m.movement = 'auto_renew_off') AS switched_off
    FROM payer p WHERE p.start_time IS NOT NULL
), step AS (
    -- One period more than any subscription reached: no subscription had the opportunity yet.
    SELECT m.*, n AS period_number, m.start_time + (n - 1) * m.length AS since,
        m.start_time + n * m.length AS until
    FROM member m
    CROSS JOIN LATERAL generate_series(1, 1 + (extract(epoch FROM m.asked - m.start_time)::bigint
        / greatest(extract(epoch FROM m.length)::bigint, 1))::integer) AS n
), judged AS (
    SELECT s.cohort, s.environment, s.product_identifier, s.period_length, s.period_number,
        s.members,
        s.until <= s.asked AS had_opportunity,
        s.period_number = 1 OR s.spans @> s.since AS was_active, s.spans @> s.until AS is_active,
        s.spans @> s.asked AND NOT s.is_switched_off AS is_pending,
        EXISTS (
            SELECT FROM unnest(s.switched_off) AS i (instant)
            WHERE i.instant >= s.since AND i.instant < least(s.until, s.asked)) AS was_switched_off
    FROM step s
)
SELECT j.cohort, j.environment, j.product_identifier, j.period_length, j.period_number,
    min(j.members), count(*) FILTER (WHERE j.had_opportunity),
    count(*) FILTER (WHERE j.had_opportunity AND j.is_active),
    count(*) FILTER (WHERE NOT j.had_opportunity AND j.was_active AND j.is_pending),
    count(*) FILTER (WHERE j.had_opportunity AND j.was_active AND NOT j.is_active),
    count(*) FILTER (WHERE j.was_active AND j.was_switched_off),
    count(*) FILTER (WHERE j.was_active),
    count(*) FILTER (WHERE j.had_opportunity AND j.was_active)
FROM judged j
GROUP BY j.cohort, j.environment, j.product_identifier, j.period_length, j.period_number
$$;
COMMENT ON FUNCTION analytics.retention_at(timestamptz) IS
    'The rows of analytics.retention as of an instant on Apple''s clock: what happened after it does not count.'
