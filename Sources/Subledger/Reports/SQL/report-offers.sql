-- Offers by when their first purchase began, and whether the subscription went on at the standard
-- price. A pay-as-you-go offer has several purchases: only the first, or the first after another
-- offer, is a start.
SELECT {{by}}x.offer, x.offer_discount_type, count(*) AS offer_starts,
    count(*) FILTER (WHERE x.is_converted) AS offer_conversions,
    count(*) FILTER (WHERE x.is_running) AS running,
    round(10000.0 * count(*) FILTER (WHERE x.is_converted)
        / nullif(count(*) FILTER (WHERE NOT x.is_running), 0))::bigint
        AS converted_percent
FROM (
    SELECT {{purchase}}, t.offer, t.offer_discount_type, n.start_time IS NOT NULL AS is_converted,
        n.start_time IS NULL AND EXISTS (
            SELECT FROM analytics.transactions r
            WHERE r.lane = t.lane AND r.environment = t.environment
                AND r.original_transaction_id = t.original_transaction_id
                AND r.ordinal >= t.ordinal AND r.start_time < $4
                AND r.effective_end_time >= $4) AS is_running
    FROM analytics.transactions t
    LEFT JOIN LATERAL (
        SELECT y.offer_type, y.offer FROM analytics.transactions y
        WHERE y.lane = t.lane AND y.environment = t.environment
            AND y.original_transaction_id = t.original_transaction_id
            AND y.ordinal < t.ordinal AND NOT y.is_shared AND y.is_auto_renewable
        ORDER BY y.ordinal DESC LIMIT 1
    ) b ON true
    LEFT JOIN LATERAL (
        SELECT y.start_time FROM analytics.transactions y
        WHERE y.lane = t.lane AND y.environment = t.environment
            AND y.original_transaction_id = t.original_transaction_id
            AND y.ordinal > t.ordinal AND y.start_time < $4 AND y.is_paid AND y.offer_type = 'none'
        ORDER BY y.ordinal LIMIT 1
    ) n ON true
    WHERE t.environment = $3 AND t.is_auto_renewable AND t.offer_type <> 'none'
        AND NOT t.is_shared AND {{is_asked_day}}
        AND (b.offer_type, b.offer) IS DISTINCT FROM (t.offer_type, t.offer)
) x
GROUP BY {{keys}}
