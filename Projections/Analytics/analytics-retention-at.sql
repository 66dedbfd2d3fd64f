-- Retention by cohort. A subscription is of the month, UTC, and the product of its first paid
-- purchase. Period n ends n times the length of that product after this purchase: a subscription is
-- retained that has paid access at that instant, and one whose instant is not after `as_of` had the
-- opportunity.
CREATE OR REPLACE FUNCTION analytics.retention_at(as_of timestamptz)
RETURNS TABLE (
    cohort date, environment text, product_identifier text, period_number integer,
    cohort_size bigint, had_opportunity bigint, retained bigint, retained_pending bigint,
    ended_in_period bigint, auto_renew_off_in_period bigint, entered_period bigint,
    completed_period bigint
)
LANGUAGE sql STABLE
AS $$
WITH member AS (
    SELECT DISTINCT ON (t.lane, t.environment, t.original_transaction_id)
        t.lane, t.environment, t.original_transaction_id, t.product_identifier, t.start_time,
        date_trunc('month', t.start_time AT TIME ZONE 'UTC')::date AS cohort,
        coalesce(t.product_duration, t.billing_duration)::interval AS length
    FROM analytics.transactions t
    WHERE t.is_paid AND t.start_time < t.effective_end_time AND coalesce(t.product_duration, t.billing_duration) IS NOT NULL
        AND t.start_time <= as_of
    ORDER BY t.lane, t.environment, t.original_transaction_id, t.start_time, t.ordinal
), size AS (
    SELECT m.cohort, m.environment, m.product_identifier, count(*) AS members
    FROM member m GROUP BY 1, 2, 3
), step AS (
    -- One more than were reached: where nobody had the opportunity yet.
    SELECT m.*, n AS period_number,
        ((m.start_time AT TIME ZONE 'UTC') + (n - 1) * m.length) AT TIME ZONE 'UTC' AS since,
        ((m.start_time AT TIME ZONE 'UTC') + n * m.length) AT TIME ZONE 'UTC' AS until
    FROM member m
    CROSS JOIN LATERAL generate_series(1, 1 + (
        extract(epoch FROM as_of - m.start_time)::bigint
            / greatest(extract(epoch FROM m.length)::bigint, 1))::integer) AS n
), judged AS (
    SELECT s.cohort, s.environment, s.product_identifier, s.period_number,
        s.until <= as_of AS had_opportunity,
        s.period_number = 1 OR EXISTS (
            SELECT FROM analytics.transactions t
            WHERE t.lane = s.lane AND t.environment = s.environment
                AND t.original_transaction_id = s.original_transaction_id AND t.is_paid
                AND t.start_time <= s.since AND t.effective_end_time > s.since) AS was_active,
        EXISTS (
            SELECT FROM analytics.transactions t
            WHERE t.lane = s.lane AND t.environment = s.environment
                AND t.original_transaction_id = s.original_transaction_id AND t.is_paid
                AND t.start_time <= s.until AND t.effective_end_time > s.until) AS is_active,
        EXISTS (
            SELECT FROM analytics.transactions t
            WHERE t.lane = s.lane AND t.environment = s.environment
                AND t.original_transaction_id = s.original_transaction_id AND t.is_paid
                AND t.start_time <= as_of AND t.effective_end_time > as_of
                AND NOT EXISTS (
                    SELECT FROM projection.renewal_states r
                    WHERE r.lane = t.lane AND r.environment = t.environment
                        AND r.original_transaction_id = t.original_transaction_id
                        AND r.valid_from <= as_of AND (r.valid_to IS NULL OR as_of < r.valid_to)
                        AND NOT r.is_auto_renew_on)) AS is_pending,
        EXISTS (
            SELECT FROM projection.movements m
            WHERE m.lane = s.lane AND m.environment = s.environment
                AND m.original_transaction_id = s.original_transaction_id
                AND m.movement = 'auto_renew_off' AND m.occurred_at >= s.since
                AND m.occurred_at < least(s.until, as_of)) AS was_switched_off
    FROM step s
)
SELECT j.cohort, j.environment, j.product_identifier, j.period_number,
    min(z.members), count(*) FILTER (WHERE j.had_opportunity),
    count(*) FILTER (WHERE j.had_opportunity AND j.is_active),
    count(*) FILTER (WHERE NOT j.had_opportunity AND j.was_active AND j.is_pending),
    count(*) FILTER (WHERE j.had_opportunity AND j.was_active AND NOT j.is_active),
    count(*) FILTER (WHERE j.was_active AND j.was_switched_off),
    count(*) FILTER (WHERE j.was_active),
    count(*) FILTER (WHERE j.had_opportunity AND j.was_active)
FROM judged j
JOIN size z USING (cohort, environment, product_identifier)
GROUP BY j.cohort, j.environment, j.product_identifier, j.period_number
$$;
COMMENT ON FUNCTION analytics.retention_at(timestamptz) IS
    'The rows of analytics.retention as of an instant on Apple''s clock: what happened after it does not count.'
