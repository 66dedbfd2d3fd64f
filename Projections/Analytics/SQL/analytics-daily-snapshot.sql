-- One call for each month, so that a query that filters by day calls the function only for the
-- months of these days.
CREATE OR REPLACE VIEW analytics.daily_snapshot AS
SELECT s.day, s.environment, s.product_identifier, s.country, s.currency, s.offer_type,
    s.renewal_number, s.active_paid, s.active_trial, s.in_grace, s.in_retry, s.set_to_expire,
    s.mrr_milliunits, s.new_paid, s.resubscribed, s.lost, s.trial_starts, s.trial_conversions,
    s.churned_voluntary, s.churned_involuntary, s.churned_unknown, s.refunds,
    s.given_back_milliunits, s.paid_purchases, s.paid_purchases_refunded, s.gross_milliunits,
    s.net_milliunits
FROM (
    SELECT (min(t.start_time) AT TIME ZONE 'UTC')::date AS first_day,
        (analytics.last_signed_at() AT TIME ZONE 'UTC')::date - 1 AS last_day
    FROM projection.transactions t
) b
-- An array, of which PostgreSQL expects few elements: otherwise it would compile the plan.
CROSS JOIN LATERAL unnest(ARRAY(
    SELECT generate_series(date_trunc('month', b.first_day::timestamp), b.last_day::timestamp,
        interval '1 month')
)) AS g (month)
CROSS JOIN LATERAL (
    SELECT greatest(b.first_day, g.month::date) AS first_day,
        least(b.last_day, (g.month + interval '1 month')::date - 1) AS last_day
) m
CROSS JOIN LATERAL (
    -- PostgreSQL applies a filter on day to the days d first, and does not call the function if none
    -- is left. Filters on other columns must come later, because they could lead to a plan that
    -- calls it first. The window ensures that; it costs nothing, because the view does not select
    -- it.
    SELECT d.day, s.environment, s.product_identifier, s.country, s.currency, s.offer_type,
        s.renewal_number, s.active_paid, s.active_trial, s.in_grace, s.in_retry,
        s.set_to_expire, s.mrr_milliunits, s.new_paid, s.resubscribed, s.lost, s.trial_starts,
        s.trial_conversions, s.churned_voluntary, s.churned_involuntary, s.churned_unknown,
        s.refunds, s.given_back_milliunits, s.paid_purchases, s.paid_purchases_refunded,
        s.gross_milliunits, s.net_milliunits, count(*) OVER (PARTITION BY d.day)
    FROM (
        SELECT n, m.first_day + n AS day
        FROM generate_series(0, m.last_day - m.first_day) AS n
    ) d
    JOIN analytics.daily_snapshot_between(m.first_day, m.last_day) s
        ON s.day - m.first_day = d.n
) s;
COMMENT ON VIEW analytics.daily_snapshot IS
    'Every day, UTC, until the last whole one before Apple''s newest signature: what was active at its end, and what moved in it, as it is known now. One row a day, environment, product, country, currency, offer and renewal number; days and combinations without anything have no row. A filter on day reads only the months of the days that it selects.'
