-- What was paid, earned and deferred of each purchase in each month, as report deferred-revenue
-- counts it. A purchase has a row in each month in which anything of it moves or stays.
CREATE OR REPLACE VIEW analytics.recognised_revenue AS
WITH bound AS MATERIALIZED (
    SELECT b.first_day, b.last_day, b.until, ARRAY(
        SELECT generate_series(b.first_day::timestamp, b.last_day + interval '1 month',
            interval '1 month')) AS months
    FROM (
        SELECT date_trunc('month', min(t.start_time) AT TIME ZONE 'UTC')::date AS first_day,
            (analytics.last_signed_at() AT TIME ZONE 'UTC')::date AS last_day,
            analytics.last_signed_at() + interval '1 millisecond' AS until
        FROM projection.transactions t
    ) b
)
SELECT x.lane, x.environment, x.original_transaction_id, x.ordinal, x.month::date AS recognised_month,
    x.product_identifier, x.country, x.offer_type, x.currency,
    sum(x.deferred)::bigint AS opening_deferred_milliunits,
    sum(x.gross)::bigint AS gross_milliunits,
    sum(x.given_back)::bigint AS given_back_on_refund_date_milliunits,
    sum(x.estimate)::bigint AS upgrade_refund_estimate_milliunits,
    sum(x.recognised)::bigint AS recognised_milliunits,
    (sum(x.deferred) + sum(x.gross - x.given_back - x.estimate - x.recognised))::bigint
        AS closing_deferred_milliunits
FROM (
{{recognised_revenue}}
) x
GROUP BY x.lane, x.environment, x.original_transaction_id, x.ordinal, x.month,
    x.product_identifier, x.country, x.offer_type, x.currency
HAVING sum(x.gross) <> 0 OR sum(x.given_back) <> 0 OR sum(x.estimate) <> 0
    OR sum(x.recognised) <> 0 OR sum(x.deferred) <> 0;
COMMENT ON VIEW analytics.recognised_revenue IS
    'What was paid and earned of each purchase, as it is known now, by month, UTC, until Apple''s newest signature: its price is recognised evenly over its period, as in report deferred-revenue. opening + gross - given back - estimate for an upgrade - recognised = closing, to the milliunit; the closing of a month is the opening of the next.'
