-- The case of a refund that a movement m, its refund or reversal, belongs to, as f.
LEFT JOIN LATERAL (
    SELECT r.refund_kind, r.revocation_reason FROM projection.refunds r
    WHERE r.lane = m.lane AND r.environment = m.environment
        AND r.original_transaction_id = m.original_transaction_id
        AND r.purchase_date_ms = m.purchase_date_ms
        AND r.product_identifier = m.product_identifier AND r.refund_kind IS NOT NULL
        AND coalesce(r.revoked_at, r.announced_at) <= m.occurred_at
    ORDER BY coalesce(r.revoked_at, r.announced_at) DESC, r.ordinal DESC
    LIMIT 1
) f ON true
