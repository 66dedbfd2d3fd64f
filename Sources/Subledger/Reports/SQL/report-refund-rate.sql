-- Paid subscription purchases, and those of them that are refunded.
SELECT {{by}}count(*) AS paid_purchases,
    count(x.refunded_at) AS paid_purchases_refunded,
    round(10000.0 * count(x.refunded_at) / nullif(count(*), 0))::bigint
        AS refunded_percent
FROM (
    SELECT {{purchase}}, t.refunded_at
    FROM {{purchases_until}} t
    WHERE t.environment = $3 AND t.is_paid AND {{is_asked_day}}
) x
GROUP BY {{keys}}
