CREATE OR REPLACE VIEW analytics.daily_snapshot AS
SELECT d.day, d.environment, d.product_identifier, d.country, d.currency, d.offer_type,
    d.renewal_number, d.active_paid, d.active_trial, d.in_grace, d.in_retry, d.set_to_expire,
    d.mrr_milliunits, d.new_paid, d.resubscribed, d.lost, d.trial_starts, d.trial_conversions,
    d.churned_voluntary, d.churned_involuntary, d.churned_unknown, d.refunds,
    d.given_back_milliunits, d.paid_purchases, d.paid_purchases_refunded, d.gross_milliunits,
    d.net_milliunits
FROM (
    SELECT (min(t.start_time) AT TIME ZONE 'UTC')::date AS first_day,
        (analytics.last_signed_at() AT TIME ZONE 'UTC')::date - 1 AS last_day
    FROM projection.transactions t
) b
CROSS JOIN LATERAL analytics.daily_snapshot_between(b.first_day, b.last_day) d;
COMMENT ON VIEW analytics.daily_snapshot IS
    'Every day, UTC, until the last whole one before Apple''s newest signature: what was active at its end, and what moved in it, as it is known now. One row a day, environment, product, country, currency, offer and renewal number; days and combinations without anything have no row. For a part of the days call analytics.daily_snapshot_between(first_day, last_day).'
