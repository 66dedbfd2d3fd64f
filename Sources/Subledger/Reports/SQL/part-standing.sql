-- The purchases running at those instants, as the daily snapshot counts them: the newest of several;
-- of a period to which seats were added, all transactions together. Each purchase selects the few
-- month ends that it covers; a call of the daily snapshot, or a join of days with purchases, is far
-- slower.
SELECT DISTINCT ON (b.day, t.lane, t.original_transaction_id) {{standing_columns}}{{of_purchase}}
    FROM {{transactions}} t
    CROSS JOIN LATERAL (
        SELECT ((u - interval '1 millisecond') AT TIME ZONE 'UTC')::date AS day, u AS until
        FROM (
            SELECT ({{months}})[n] AT TIME ZONE 'UTC' AS u FROM generate_series(
                1 + width_bucket(greatest(
                    t.start_time AT TIME ZONE 'UTC', $1::date::timestamp), {{months}}),
                width_bucket(least(t.effective_end_time, $4) AT TIME ZONE 'UTC', {{months}})) n
            UNION ALL SELECT $4
            WHERE $4 AT TIME ZONE 'UTC' <> ALL ({{months}}) AND $1::date <= $2::date
        ) e
        WHERE t.start_time < u AND t.effective_end_time >= u
    ) b
    WHERE t.environment = $3 AND t.start_time < t.effective_end_time
        AND (t.is_paid OR t.is_trial_period
            AND NOT t.is_shared)
    ORDER BY b.day, t.lane, t.original_transaction_id, t.start_time DESC,
        t.ordinal DESC
