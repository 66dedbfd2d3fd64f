-- Purchases by their date, and refunds by theirs; a refund takes country and offer from its
-- purchase. What an upgrade probably gives back belongs to the purchase that it replaced.
SELECT {{by}}x.currency, sum(x.gross)::bigint AS gross_milliunits,
    sum(x.gross - x.net)::bigint AS given_back_milliunits,
    sum(x.net)::bigint AS net_milliunits,
    sum(x.given_back)::bigint AS given_back_on_refund_date_milliunits,
    sum(x.gross - x.given_back)::bigint AS net_on_refund_date_milliunits,
    sum(x.estimate)::bigint AS upgrade_refund_estimate_milliunits{{totals}}
FROM (
    SELECT {{purchase}}, t.currency,
        coalesce(t.purchase_price_milliunits, 0) AS gross,
        coalesce(t.price_milliunits, 0) AS net, 0 AS given_back, 0 AS estimate{{of_purchase}}
    FROM {{purchases_until}} t
    WHERE t.environment = $3 AND {{is_asked_day}}
        AND NOT t.is_shared
    UNION ALL
    SELECT (m.occurred_at AT TIME ZONE 'UTC')::date,
        date_trunc('month', m.occurred_at AT TIME ZONE 'UTC'),
        m.product_identifier, p.country, p.offer_type, m.currency, 0, 0,
        -coalesce(m.amount_milliunits, 0), 0{{of_movement}}
    FROM {{movements}} m
    {{purchase_of_movement}}
    WHERE m.environment = $3 AND NOT m.is_shared
        AND m.movement IN ('exit_refund', 'refund_reversed')
        AND m.occurred_at >= $1::date::timestamp AT TIME ZONE 'UTC'
        AND m.occurred_at < $4
    UNION ALL
    SELECT (c.effective_at AT TIME ZONE 'UTC')::date,
        date_trunc('month', c.effective_at AT TIME ZONE 'UTC'),
        c.previous_product_identifier, c.country, c.offer_type, c.currency, 0, 0, 0,
        c.estimate{{of_plan_change}}
    FROM {{plan_changes}} c
    WHERE c.environment = $3
        AND c.effective_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND c.effective_at < $4
) x
GROUP BY {{keys}}
HAVING sum(x.gross) <> 0 OR sum(x.given_back) <> 0 OR sum(x.estimate) <> 0
