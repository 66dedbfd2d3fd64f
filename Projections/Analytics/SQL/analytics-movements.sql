-- All changes of purchases and money, as known now; movements_history has them as they became known.
-- The customer and the recorded time are looked up only if a query selects them.
CREATE OR REPLACE VIEW analytics.{{table}} AS
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
    m.amount_milliunits, m.currency, m.is_family_shared, m.is_shared, m.seat_quantity, m.is_resubscribe,
    m.expiration_reason,
    {{corrects}} AS corrects_ordinal,
    EXISTS (
        SELECT FROM analytics.repeated_purchases() d
        WHERE d.lane = m.lane AND d.environment = m.environment
            AND d.original_transaction_id = m.original_transaction_id
            AND d.purchase_date_ms = m.purchase_date_ms
            AND d.product_identifier = m.product_identifier) AS is_repeated,
    m.positions[1] AS ledger_position_first,
    m.positions[cardinality(m.positions)] AS ledger_position_last{{knowledge}}
FROM projection.{{table}} m
CROSS JOIN LATERAL (
    SELECT analytics.recorded_at(m.lane, m.positions[cardinality(m.positions)]) AS recorded_at
) r;
COMMENT ON VIEW analytics.{{table}} IS
    '{{comment}}'
