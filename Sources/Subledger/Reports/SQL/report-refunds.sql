-- Refunds and their reversals, each on its date; country and offer are those of the purchase, and the
-- reason is that of the case.
SELECT {{by}}x.refund_reason, x.currency,
    count(*) FILTER (WHERE x.is_refund) AS refunds_count,
    count(*) FILTER (WHERE NOT x.is_refund) AS refunds_reversed,
    coalesce(sum(x.given_back) FILTER (WHERE x.is_refund), 0)::bigint AS refunded_milliunits,
    coalesce(sum(-x.given_back) FILTER (WHERE NOT x.is_refund), 0)::bigint
        AS reversed_milliunits,
    coalesce(sum(x.given_back), 0)::bigint AS given_back_on_refund_date_milliunits{{totals}}
FROM (
    SELECT (m.occurred_at AT TIME ZONE 'UTC')::date AS day,
        date_trunc('month', m.occurred_at AT TIME ZONE 'UTC') AS month, m.product_identifier,
        p.country, p.offer_type, m.currency, m.movement = 'exit_refund' AS is_refund,
        -coalesce(m.amount_milliunits, 0) AS given_back,
        CASE f.revocation_reason WHEN 1 THEN 'app_issue' WHEN 0 THEN 'other' END
            AS refund_reason{{of_movement}}
    FROM {{movements}} m
    {{purchase_of_movement}}
    {{case_of_movement}}
    WHERE m.environment = $3 AND NOT m.is_shared
        AND m.movement IN ('exit_refund', 'refund_reversed')
        AND m.occurred_at >= $1::date::timestamp AT TIME ZONE 'UTC'
        AND m.occurred_at < $4
) x
GROUP BY {{keys}}
