-- Movements with amounts in the requested currency ($5), by the rate of their day. An amount
-- without a rate keeps its currency.
(SELECT m.lane, m.environment, m.original_transaction_id, m.purchase_date_ms, m.movement,
        m.occurred_at, m.product_identifier, m.is_shared, r.rate_day,
        CASE WHEN r.rate IS NULL THEN m.currency ELSE $5::text END AS currency,
        CASE WHEN r.rate IS NULL THEN m.amount_milliunits
            ELSE round(m.amount_milliunits * r.rate)::bigint END AS amount_milliunits
    FROM analytics.movements m
    LEFT JOIN rate_of_day r ON r.currency = m.currency
        AND r.day = (m.occurred_at AT TIME ZONE 'UTC')::date)
