-- The journal of the business as it is known now. The customer and the recorded time are looked up
-- only where a query asks for them.
CREATE OR REPLACE VIEW analytics.movements AS
SELECT m.lane, m.environment, m.original_transaction_id, m.ordinal,
    (SELECT c.customer_id FROM analytics.customers c
        WHERE c.lane = m.lane AND c.environment = m.environment
            AND c.original_transaction_id = m.original_transaction_id
            AND c.valid_from <= m.occurred_at AND (c.valid_to IS NULL OR m.occurred_at < c.valid_to)
        LIMIT 1) AS customer_id,
    m.occurred_at, r.recorded_at,
    extract(epoch FROM r.recorded_at - m.occurred_at)::bigint AS lag_seconds,
    m.movement, m.apple_event_grouping, m.apple_event_sub_type, m.apple_event, m.rc_event,
    m.product_identifier, m.previous_product_identifier, m.purchase_date_ms, m.expires_date_ms,
    m.amount_milliunits, m.currency, m.is_family_shared, m.is_resubscribe, m.expiration_reason,
    (SELECT max(o.ordinal) FROM projection.movements o
        WHERE o.lane = m.lane AND o.environment = m.environment
            AND o.original_transaction_id = m.original_transaction_id
            AND o.ordinal < m.ordinal AND o.product_identifier = m.product_identifier
            AND (o.purchase_date_ms = m.purchase_date_ms
                OR m.movement = 'plan_change_cancelled')
            AND (m.movement, o.movement) IN (('refund_reversed', 'exit_refund'),
                ('refund_declined', 'refund_requested'),
                ('plan_change_cancelled', 'plan_change_scheduled'))) AS corrects_ordinal,
    m.positions[1] AS ledger_position_first,
    m.positions[cardinality(m.positions)] AS ledger_position_last
FROM projection.movements m
CROSS JOIN LATERAL (
    SELECT analytics.recorded_at(m.lane, m.positions[cardinality(m.positions)]) AS recorded_at
) r;
COMMENT ON VIEW analytics.movements IS
    'What began, went on, was paid, given back and ended, as it is known now: one row each, at its instant on Apple''s clock.'
