-- Free trials, and the next purchase of each.
SELECT {{by}}count(*) AS trial_starts,
    count(*) FILTER (WHERE x.is_converted) AS trial_conversions,
    count(*) FILTER (WHERE x.is_running) AS running,
    round(10000.0 * count(*) FILTER (WHERE x.is_converted)
        / nullif(count(*) FILTER (WHERE NOT x.is_running), 0))::bigint
        AS converted_percent
FROM (
    SELECT {{purchase}}, coalesce(n.is_trial_conversion, false) AS is_converted,
        n.start_time IS NULL AND t.effective_end_time >= $4 AS is_running
    FROM analytics.transactions t
    LEFT JOIN LATERAL (
        SELECT y.is_trial_conversion, y.start_time FROM analytics.transactions y
        WHERE y.lane = t.lane AND y.environment = t.environment
            AND y.original_transaction_id = t.original_transaction_id
            AND y.ordinal > t.ordinal AND y.start_time < $4
        ORDER BY y.ordinal LIMIT 1
    ) n ON true
    WHERE t.environment = $3 AND t.is_trial_period
        AND NOT t.is_shared AND {{is_asked_day}}
) x
GROUP BY {{keys}}
