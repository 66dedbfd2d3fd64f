-- Changes of plan, by the product before and after.
SELECT {{by}}x.previous_product_identifier, x.product_identifier, x.plan_change,
    count(*) AS plan_changes_count,
    count(DISTINCT x.original_transaction_id) AS subscriptions_count
FROM (
    SELECT {{purchase}}, t.previous_product_identifier, t.plan_change,
        t.original_transaction_id
    FROM analytics.transactions t
    WHERE t.environment = $3 AND t.plan_change IS NOT NULL
        AND NOT t.is_shared AND {{is_asked_day}}
) x
GROUP BY {{keys}}
