-- Payments by whether the customer or a renewal made them; a purchase without transactionReason is
-- judged by its place.
SELECT {{by}}count(*) AS payments_count,
    count(*) FILTER (WHERE NOT x.is_automatic) AS original_payments,
    count(*) FILTER (WHERE x.is_automatic) AS automatic_payments,
    round(10000.0 * count(*) FILTER (WHERE x.is_automatic)
        / nullif(count(*), 0))::bigint AS automatic_percent,
    count(*) FILTER (WHERE x.transaction_reason IS NULL) AS inferred
FROM (
    SELECT {{purchase}}, t.transaction_reason, coalesce(
        t.transaction_reason = 'RENEWAL',
        t.renewal_number > 1 AND t.plan_change IS NULL) AS is_automatic
    FROM analytics.transactions t
    WHERE t.environment = $3 AND t.is_paid AND {{is_asked_day}}
) x
GROUP BY {{keys}}
