-- Changes of plan with what Apple probably gave back for the rest of the replaced period; those of
-- purchases that were counted under another original transaction id are left out.
(SELECT c.lane, c.environment, c.original_transaction_id, c.previous_product_identifier,
        c.effective_at, c.estimated_refund_currency AS currency,
        c.estimated_refund_milliunits AS estimate
    FROM projection.plan_changes c
    WHERE c.estimated_refund_milliunits IS NOT NULL AND NOT EXISTS (
        SELECT FROM analytics.repeated_purchases() r
        WHERE r.lane = c.lane AND r.environment = c.environment
            AND r.original_transaction_id = c.original_transaction_id
            AND r.product_identifier = c.product_identifier
            AND r.purchase_date_ms = (extract(epoch FROM c.effective_at) * 1000)::bigint))
