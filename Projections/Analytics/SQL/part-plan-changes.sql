-- Changes of plan with what Apple probably gave back for the rest of the replaced period, at most what
-- is left of its price after the refunds that Apple signed until the last instant that counts. The
-- price of a period is that of its purchase and of the seats that were added to it. Those of purchases
-- that were counted under another original transaction id are left out.
(SELECT c.lane, c.environment, c.original_transaction_id, c.previous_product_identifier,
        c.effective_at, c.estimated_refund_currency AS currency, y.ordinal AS previous_ordinal,
        y.country, y.offer_type, least(c.estimated_refund_milliunits, y.price) AS estimate
    FROM projection.plan_changes c
    LEFT JOIN LATERAL (
        SELECT t.ordinal, t.country, t.offer_type, (
            SELECT sum(greatest(0, p.purchase_price_milliunits + coalesce((
                SELECT sum(m.amount_milliunits) FROM analytics.movements m
                WHERE m.lane = p.lane AND m.environment = p.environment
                    AND m.original_transaction_id = p.original_transaction_id
                    AND m.purchase_date_ms = p.purchase_date_ms
                    AND m.product_identifier = p.product_identifier
                    AND m.movement IN ('exit_refund', 'refund_reversed')
                    AND m.occurred_at < $4), 0)))::bigint
            FROM analytics.transactions p
            WHERE p.lane = t.lane AND p.environment = t.environment
                AND p.original_transaction_id = t.original_transaction_id
                AND p.product_identifier = t.product_identifier
                AND t.purchase_date_ms IN (p.purchase_date_ms, p.added_to_purchase_date_ms)
        ) AS price
        FROM analytics.transactions t
        WHERE t.lane = c.lane AND t.environment = c.environment
            AND t.original_transaction_id = c.original_transaction_id
            AND t.product_identifier = c.previous_product_identifier
            AND t.start_time <= c.effective_at AND t.end_time > c.effective_at
        ORDER BY t.added_to_purchase_date_ms IS NOT NULL, t.start_time DESC, t.ordinal DESC
        LIMIT 1
    ) y ON true
    WHERE c.estimated_refund_milliunits IS NOT NULL AND NOT EXISTS (
        SELECT FROM analytics.repeated_purchases() r
        WHERE r.lane = c.lane AND r.environment = c.environment
            AND r.original_transaction_id = c.original_transaction_id
            AND r.product_identifier = c.product_identifier
            AND r.purchase_date_ms = (extract(epoch FROM c.effective_at) * 1000)::bigint))
