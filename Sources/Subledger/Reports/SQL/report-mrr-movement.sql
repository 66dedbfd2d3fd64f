-- How monthly recurring revenue moved between the ends of months. A subscription that runs at the end
-- of a month is compared with the same one at the end of the month before: it came, went, or costs
-- more or less. What it takes along from one product, country, kind of offer or currency to another
-- is transferred. Instants are numbered, because a subscription can be absent at some of them.
SELECT {{by}}x.currency,
    coalesce(sum(x.opening) FILTER (WHERE {{begins}}), 0)::bigint AS opening_mrr_milliunits,
    sum(x.new)::bigint AS new_mrr_milliunits,
    sum(x.reactivation)::bigint AS reactivation_mrr_milliunits,
    sum(x.expansion)::bigint AS expansion_mrr_milliunits,
    sum(x.contraction)::bigint AS contraction_mrr_milliunits,
    sum(x.churned)::bigint AS churned_mrr_milliunits,
    sum(x.transferred)::bigint AS transferred_mrr_milliunits,
    (coalesce(sum(x.opening) FILTER (WHERE {{begins}}), 0)
        + sum(x.new + x.reactivation + x.expansion + x.contraction + x.churned + x.transferred)
        )::bigint AS closing_mrr_milliunits,
    CASE WHEN count(DISTINCT x.month) = 1 THEN round(10000.0 * (sum(x.opening)
            + sum(x.contraction + x.churned)) / nullif(sum(x.opening), 0)) END::bigint
        AS gross_retention_percent,
    CASE WHEN count(DISTINCT x.month) = 1 THEN round(10000.0 * (sum(x.opening)
            + sum(x.expansion + x.contraction + x.churned)) / nullif(sum(x.opening), 0))
        END::bigint AS net_retention_percent{{totals}}
FROM (
    WITH instant AS MATERIALIZED (
        SELECT row_number() OVER (ORDER BY e.until)::integer AS place, e.until,
            lead(e.until) OVER (ORDER BY e.until) IS NULL AS is_last
        FROM (
            SELECT $1::date::timestamp AT TIME ZONE 'UTC' AS until
            UNION SELECT b.until FROM {{month_ends}}
        ) e
    ), standing AS MATERIALIZED (
        SELECT s.*, i.place, i.is_last, coalesce(s.mrr_milliunits, 0) AS mrr
        FROM (
            ({{standing}})
            UNION ALL
            (SELECT DISTINCT ON (t.lane, t.original_transaction_id)
                {{standing_columns}}{{of_purchase}}
            FROM {{transactions}} t
            CROSS JOIN (SELECT $1::date - 1 AS day,
                $1::date::timestamp AT TIME ZONE 'UTC' AS until) b
            WHERE t.environment = $3 AND t.start_time < b.until
                AND t.effective_end_time >= b.until AND t.start_time < t.effective_end_time
                AND (t.is_paid OR t.is_trial_period AND NOT t.is_shared)
            ORDER BY t.lane, t.original_transaction_id, t.start_time DESC, t.ordinal DESC)
        ) s
        JOIN instant i ON i.until = s.until
        WHERE s.is_paid
    ), first_paid AS MATERIALIZED (
        SELECT t.lane, t.original_transaction_id, min(t.start_time) AS first_at
        FROM analytics.transactions t
        WHERE t.environment = $3 AND t.is_paid AND t.start_time < $4
        GROUP BY t.lane, t.original_transaction_id
    ), neighbour AS (
        SELECT s.*, lead(s.place) OVER course IS NOT DISTINCT FROM s.place + 1 AS stays,
            CASE WHEN lag(s.place) OVER course = s.place - 1
                THEN lag(s.mrr) OVER course END AS mrr_before,
            lag(s.currency) OVER course IS NOT DISTINCT FROM s.currency AS is_same_currency
        FROM standing s
        WINDOW course AS (PARTITION BY s.lane, s.original_transaction_id ORDER BY s.place)
    )
    -- What it is at an instant, and whether it is gone, or perhaps elsewhere, at the next.
    SELECT t.product_identifier, t.country, t.offer_type, t.currency,
        (t.until AT TIME ZONE 'UTC')::date AS day,
        date_trunc('month', t.until AT TIME ZONE 'UTC') AS month,
        t.mrr AS opening, 0 AS new, 0 AS reactivation, 0 AS expansion, 0 AS contraction,
        CASE WHEN t.stays THEN 0 ELSE -t.mrr END AS churned,
        CASE WHEN t.stays THEN -t.mrr ELSE 0 END AS transferred{{of_cohort}}
    FROM neighbour t WHERE NOT t.is_last
    UNION ALL
    -- Where it came from, seen from the instant before.
    SELECT t.product_identifier, t.country, t.offer_type, t.currency,
        (i.until AT TIME ZONE 'UTC')::date, date_trunc('month', i.until AT TIME ZONE 'UTC'), 0,
        CASE WHEN t.mrr_before IS NULL AND f.first_at >= i.until THEN t.mrr ELSE 0 END,
        CASE WHEN t.mrr_before IS NULL AND f.first_at < i.until THEN t.mrr ELSE 0 END,
        CASE WHEN t.is_same_currency THEN greatest(t.mrr - t.mrr_before, 0) ELSE 0 END,
        CASE WHEN t.is_same_currency THEN least(t.mrr - t.mrr_before, 0) ELSE 0 END,
        0, CASE WHEN t.mrr_before IS NULL THEN 0 WHEN t.is_same_currency THEN t.mrr_before
            ELSE t.mrr END{{of_cohort}}
    FROM neighbour t
    JOIN instant i ON i.place = t.place - 1
    JOIN first_paid f ON f.lane = t.lane
        AND f.original_transaction_id = t.original_transaction_id
) x
GROUP BY {{keys}}
