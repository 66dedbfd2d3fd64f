-- Payments by calendar months since the first payment of their subscription.
SELECT {{by}}x.month_number, x.currency,
    count(DISTINCT x.subscription) AS subscriptions_count,
    count(*) AS payments_count,
    coalesce(sum(x.price_milliunits), 0)::bigint AS net_milliunits{{totals}}
FROM (
    SELECT (f.start_time AT TIME ZONE 'UTC')::date AS day,
        date_trunc('month', f.start_time AT TIME ZONE 'UTC') AS month,
        f.product_identifier, f.country, f.offer_type, t.currency,
        t.original_transaction_id AS subscription, t.price_milliunits,
        (12 * (date_part('year', t.start_time AT TIME ZONE 'UTC')
                - date_part('year', f.start_time AT TIME ZONE 'UTC'))
            + date_part('month', t.start_time AT TIME ZONE 'UTC')
            - date_part('month', f.start_time AT TIME ZONE 'UTC'))::bigint
            AS month_number{{of_purchase}}
    FROM (
        SELECT DISTINCT ON (y.lane, y.original_transaction_id) y.lane,
            y.original_transaction_id, y.start_time, y.product_identifier,
            y.country, y.offer_type
        FROM analytics.transactions y
        WHERE y.environment = $3 AND y.is_paid
        ORDER BY y.lane, y.original_transaction_id, y.start_time, y.ordinal
    ) f
    JOIN {{transactions}} t ON t.lane = f.lane AND t.environment = $3
        AND t.original_transaction_id = f.original_transaction_id
        AND t.is_paid AND t.start_time <= $4
) x
WHERE x.day BETWEEN $1::date AND $2::date
GROUP BY {{keys}}
