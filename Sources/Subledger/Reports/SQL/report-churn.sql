-- What was lost, came back and ended, each on its day; a stock is that of the day before. All days
-- covered by paid purchases of a subscription are merged into islands: the end of an island is a
-- loss, the beginning of a later one a return. What ends after the last instant that counts is as if
-- it ended after the last day. The newest purchase of the day determines product, country and offer.
SELECT {{by}}sum(x.at_start)::bigint AS active_at_start, sum(x.lost)::bigint AS lost,
    sum(x.resubscribed)::bigint AS resubscribed,
    sum(x.lost_from_start)::bigint AS lost_from_start,
    round(10000.0 * sum(x.lost_from_start)
        / nullif(sum(x.at_start), 0))::bigint AS churn_percent,
    sum(x.churned_voluntary)::bigint AS churned_voluntary,
    sum(x.churned_involuntary)::bigint AS churned_involuntary,
    sum(x.churned_unknown)::bigint AS churned_unknown
FROM (
    WITH span AS MATERIALIZED (
        SELECT t.lane, t.original_transaction_id, t.ordinal, t.start_time,
            (t.start_time AT TIME ZONE 'UTC')::date AS since,
            CASE WHEN t.effective_end_time < $4
                THEN (t.effective_end_time AT TIME ZONE 'UTC')::date ELSE $2::date + 1 END AS until,
            t.product_identifier, t.country, t.offer_type
        FROM analytics.transactions t
        WHERE t.environment = $3 AND t.is_paid AND t.effective_end_time IS NOT NULL
            AND t.start_time < $4
    ), island AS MATERIALIZED (
        SELECT a.lane, a.original_transaction_id, a.first, lower(d) AS since,
            upper(d) AS until
        FROM (
            SELECT s.lane, s.original_transaction_id, min(s.since) AS first,
                range_agg(daterange(s.since, s.until)) AS days
            FROM span s GROUP BY s.lane, s.original_transaction_id
        ) a
        CROSS JOIN LATERAL unnest(a.days) AS d
    ), moved AS (
        (SELECT DISTINCT ON (i.lane, i.original_transaction_id, i.until) i.until AS day,
            s.product_identifier, s.country, s.offer_type, false AS is_stock, 1 AS lost,
            0 AS resubscribed, 0 AS lost_from_start
        FROM island i
        JOIN span s USING (lane, original_transaction_id)
        WHERE i.until BETWEEN $1::date AND $2::date AND s.since < i.until
            AND s.until >= i.until
        ORDER BY i.lane, i.original_transaction_id, i.until, s.start_time DESC,
            s.ordinal DESC)
        UNION ALL
        (SELECT DISTINCT ON (i.lane, i.original_transaction_id, i.since) i.since,
            s.product_identifier, s.country, s.offer_type, false, 0, 1, 0
        FROM island i
        JOIN span s USING (lane, original_transaction_id)
        WHERE i.since BETWEEN $1::date AND $2::date AND i.first < i.since
            AND s.since <= i.since AND s.until > i.since
        ORDER BY i.lane, i.original_transaction_id, i.since, s.start_time DESC,
            s.ordinal DESC)
        UNION ALL
        (SELECT DISTINCT ON (b.day, s.lane, s.original_transaction_id) b.day,
            s.product_identifier, s.country, s.offer_type, true, 0, 0,
            (i.lane IS NULL)::integer
        FROM span s
        CROSS JOIN LATERAL (
            SELECT ({{months}})[n]::date AS day FROM generate_series(
                1 + width_bucket(s.since::timestamp, {{months}}),
                width_bucket(least(s.until, $2::date)::timestamp, {{months}})) n
            WHERE ({{months}})[n] >= $1::date
            UNION ALL SELECT $1::date
            WHERE $1::date::timestamp <> ALL ({{months}}) AND s.since < $1::date
                AND s.until >= $1::date AND $1::date <= $2::date
        ) b
        -- Whether it is active at the end of the group's time, by whatever purchase.
        LEFT JOIN island i ON i.lane = s.lane
            AND i.original_transaction_id = s.original_transaction_id
            AND i.since <= {{ends}} AND i.until > {{ends}}
        ORDER BY b.day, s.lane, s.original_transaction_id, s.start_time DESC,
            s.ordinal DESC)
    )
    SELECT v.day, date_trunc('month', v.day::timestamp) AS month, v.product_identifier, v.country,
        v.offer_type, v.is_stock, v.is_stock::integer AS at_start, v.lost, v.resubscribed,
        v.lost_from_start, 0 AS churned_voluntary, 0 AS churned_involuntary, 0 AS churned_unknown
    FROM moved v
    UNION ALL
    SELECT (m.occurred_at AT TIME ZONE 'UTC')::date,
        date_trunc('month', m.occurred_at AT TIME ZONE 'UTC'), m.product_identifier, p.country,
        p.offer_type, false, 0, 0, 0, 0,
        (m.movement IN ('churn_voluntary', 'churn_price_increase',
            'churn_product_unavailable'))::integer,
        (m.movement = 'churn_involuntary')::integer, (m.movement = 'churn_unknown')::integer
    FROM analytics.movements m
    {{purchase_of_movement}}
    WHERE m.environment = $3 AND NOT m.is_shared AND m.movement LIKE 'churn%'
        AND m.occurred_at >= $1::date::timestamp AT TIME ZONE 'UTC'
        AND m.occurred_at < $4
) x
WHERE NOT x.is_stock OR {{begins}}
GROUP BY {{keys}}
