-- Failed renewals, and the next movement of each that ends or recovers it.
SELECT {{by}}x.billing_issue, count(*) AS entered,
    count(*) FILTER (WHERE x.next = 'billing_issue_recovered') AS recovered,
    count(*) FILTER (WHERE x.next IS NULL) AS open,
    round(10000.0 * count(*) FILTER (WHERE x.next = 'billing_issue_recovered')
        / nullif(count(x.next), 0))::bigint AS recovered_percent
FROM (
    SELECT (m.occurred_at AT TIME ZONE 'UTC')::date AS day,
        date_trunc('month', m.occurred_at AT TIME ZONE 'UTC') AS month,
        m.product_identifier, n.movement AS next,
        CASE WHEN m.apple_event_sub_type LIKE 'Grace Period%' THEN 'grace'
            ELSE 'retry' END AS billing_issue
    FROM analytics.movements m
    LEFT JOIN LATERAL (
        SELECT o.movement FROM analytics.movements o
        WHERE o.lane = m.lane AND o.environment = m.environment
            AND o.original_transaction_id = m.original_transaction_id
            AND o.ordinal > m.ordinal AND o.occurred_at < $4
            AND (o.movement LIKE 'churn%' OR o.movement LIKE 'billing_issue%')
        ORDER BY o.ordinal LIMIT 1
    ) n ON true
    WHERE m.environment = $3 AND m.movement = 'billing_issue_entered'
        AND NOT m.is_shared
        AND m.occurred_at >= $1::date::timestamp AT TIME ZONE 'UTC'
        AND m.occurred_at < $4
) x
GROUP BY {{keys}}
