-- Subscriptions at the end of each month: those with a running purchase, and those in billing retry
-- without access.
SELECT {{by}}x.day::text AS day,
    count(*) FILTER (WHERE x.is_paid AND NOT x.is_retried) AS active_paid,
    count(*) FILTER (WHERE x.is_trial_period AND NOT x.is_retried)
        AS active_trial,
    count(*) FILTER (WHERE NOT x.is_retried AND x.end_time < x.until)
        AS in_grace,
    count(*) FILTER (WHERE x.is_retried) AS in_retry,
    count(*) FILTER (WHERE x.is_paid AND x.is_switched_off) AS set_to_expire
FROM (
    SELECT s.*, false AS is_retried, EXISTS (
        SELECT FROM projection.renewal_states r
        WHERE r.lane = s.lane AND r.environment = $3
            AND r.original_transaction_id = s.original_transaction_id
            AND r.valid_from < s.until
            AND (r.valid_to IS NULL OR r.valid_to >= s.until)
            AND NOT r.is_auto_renew_on) AS is_switched_off
    FROM ({{standing}}) s
    UNION ALL
    (SELECT DISTINCT ON (b.day, t.lane, t.original_transaction_id)
        {{standing_columns}}, true, false
    FROM {{month_ends}}
    JOIN projection.renewal_states r
        ON r.environment = $3 AND r.status = 'billing_retry'
            AND r.valid_from < b.until
            AND (r.valid_to IS NULL OR r.valid_to >= b.until)
    JOIN analytics.transactions t ON t.lane = r.lane AND t.environment = $3
        AND t.original_transaction_id = r.original_transaction_id
        AND t.start_time < b.until AND t.is_auto_renewable
    ORDER BY b.day, t.lane, t.original_transaction_id, t.start_time DESC,
        t.ordinal DESC)
) x
GROUP BY {{keys}}
