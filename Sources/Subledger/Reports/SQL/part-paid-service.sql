-- Paid service before a purchase t, in the chain that no lapse of more than 60 days breaks: without
-- trials, grace periods, and time after a refund.
LEFT JOIN (
    SELECT p.lane, p.original_transaction_id, p.ordinal, sum(p.seconds) OVER (
            PARTITION BY p.lane, p.original_transaction_id, p.chain ORDER BY p.ordinal
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS paid_seconds
    FROM (
        SELECT y.lane, y.original_transaction_id, y.ordinal,
            CASE WHEN y.is_paid THEN greatest(0, extract(epoch FROM
                least(y.effective_end_time, y.end_time) - y.start_time))
                ELSE 0 END AS seconds,
            count(*) FILTER (WHERE y.gap_seconds > 60 * 86400) OVER (
                PARTITION BY y.lane, y.original_transaction_id ORDER BY y.ordinal)
                AS chain
        FROM analytics.transactions y
        WHERE y.environment = $3 AND y.is_auto_renewable
    ) p
) s ON s.lane = t.lane AND s.original_transaction_id = t.original_transaction_id
    AND s.ordinal = t.ordinal
