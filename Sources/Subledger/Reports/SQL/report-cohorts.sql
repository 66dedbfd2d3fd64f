-- Payments by calendar months since the first payment of their subscription. Windows, because
-- PostgreSQL expects few rows of a join with the first payments, and then reads all refunds for each.
SELECT {{by}}x.month_number, x.currency,
    count(DISTINCT x.subscription) AS subscriptions_count,
    count(*) AS payments_count,
    coalesce(sum(x.price_milliunits), 0)::bigint AS net_milliunits{{totals}}
FROM (
    SELECT (t.first AT TIME ZONE 'UTC')::date AS day,
        date_trunc('month', t.first AT TIME ZONE 'UTC') AS month,
        t.product_identifier, t.country, t.offer_type, t.currency,
        t.original_transaction_id AS subscription, t.price_milliunits,
        (12 * (date_part('year', t.start_time AT TIME ZONE 'UTC')
                - date_part('year', t.first AT TIME ZONE 'UTC'))
            + date_part('month', t.start_time AT TIME ZONE 'UTC')
            - date_part('month', t.first AT TIME ZONE 'UTC'))::bigint
            AS month_number{{of_cohort}}
    FROM (
        SELECT t.original_transaction_id, t.start_time, t.currency, t.price_milliunits,
            first_value(t.start_time) OVER course AS first,
            first_value(t.product_identifier) OVER course AS product_identifier,
            first_value(t.country) OVER course AS country,
            first_value(t.offer_type) OVER course AS offer_type{{of_purchase}}
        FROM {{purchases_until}} t
        WHERE t.environment = $3 AND t.is_paid AND t.start_time < $4
        WINDOW course AS (
            PARTITION BY t.lane, t.original_transaction_id ORDER BY t.start_time, t.ordinal)
    ) t
) x
WHERE x.day BETWEEN $1::date AND $2::date
GROUP BY {{keys}}
