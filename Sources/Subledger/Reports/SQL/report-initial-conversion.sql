-- Customers by their first purchase, with the time until their first payment, and the installs of the
-- operator's file on their own days. The customer is found as in report payments.
SELECT {{by}}count(x.since) AS new_customers,
    count(*) FILTER (WHERE x.had_7_days) AS had_7_days,
    count(*) FILTER (WHERE x.had_7_days AND x.waited <= interval '7 days')
        AS paying_within_7_days,
    round(10000.0 * count(*) FILTER (WHERE x.had_7_days AND x.waited <= interval '7 days')
        / nullif(count(*) FILTER (WHERE x.had_7_days), 0))::bigint
        AS paying_within_7_days_percent,
    count(*) FILTER (WHERE x.had_30_days) AS had_30_days,
    count(*) FILTER (WHERE x.had_30_days AND x.waited <= interval '30 days')
        AS paying_within_30_days,
    round(10000.0 * count(*) FILTER (WHERE x.had_30_days AND x.waited <= interval '30 days')
        / nullif(count(*) FILTER (WHERE x.had_30_days), 0))::bigint
        AS paying_within_30_days_percent,
    sum(x.installs)::bigint AS installs,
    round(10000.0 * count(x.since) / nullif(sum(x.installs), 0))::bigint
        AS initial_conversion_percent
FROM (
    SELECT (y.since AT TIME ZONE 'UTC')::date AS day,
        date_trunc('month', y.since AT TIME ZONE 'UTC') AS month,
        y.product_identifier, y.country, y.offer_type, y.since, y.paid_at - y.since AS waited,
        $4 - y.since > interval '7 days' AS had_7_days,
        $4 - y.since > interval '30 days' AS had_30_days, NULL::bigint AS installs
    FROM (
        SELECT coalesce(c.customer, lower(c.app_account_token), t.original_transaction_id)
                AS customer_id,
            min(t.start_time) AS since,
            min(t.start_time) FILTER (WHERE NOT t.is_trial_period
                AND t.purchase_price_milliunits IS DISTINCT FROM 0) AS paid_at,
            (array_agg(t.product_identifier
                ORDER BY t.start_time, t.ordinal, t.product_identifier))[1]
                AS product_identifier,
            (array_agg(t.country ORDER BY t.start_time, t.ordinal, t.product_identifier))[1]
                AS country,
            (array_agg(t.offer_type ORDER BY t.start_time, t.ordinal, t.product_identifier))[1]
                AS offer_type
        FROM analytics.transactions t
        LEFT JOIN projection.customers c ON c.lane = t.lane AND c.environment = t.environment
            AND c.original_transaction_id = t.original_transaction_id
            AND c.valid_from <= t.start_time
            AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
        WHERE t.environment = $3 AND t.start_time < $4 AND NOT t.is_shared
        GROUP BY 1
    ) y
    UNION ALL
    SELECT i.day, date_trunc('month', i.day::timestamp), NULL, i.country, NULL, NULL, NULL,
        false, false, i.installs
    FROM {{installs}} AS i (day, country, installs)
) x
WHERE x.day BETWEEN $1::date AND $2::date
GROUP BY {{keys}}
