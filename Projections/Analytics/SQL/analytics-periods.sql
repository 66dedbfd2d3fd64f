-- The time of each subscription without gaps: access, billing retry, and the time without either.
CREATE OR REPLACE VIEW analytics.periods AS
WITH span AS (
    SELECT a.lane, a.environment, a.original_transaction_id, a.product_identifier, a.kind,
        a.valid_from, a.valid_to, a.end_reason, a.expiration_reason, a.purchase_date_ms,
        a.expires_date_ms
    FROM projection.active_periods a WHERE a.valid_from < a.valid_to
), gap AS (
    SELECT s.lane, s.environment, s.original_transaction_id, s.product_identifier,
        'gap' AS kind, s.covered_to AS valid_from,
        lead(s.valid_from) OVER stream AS valid_to,
        NULL::text AS end_reason, s.expiration_reason, s.purchase_date_ms, s.expires_date_ms
    FROM (
        SELECT p.*, max(p.valid_to) OVER (
            PARTITION BY p.lane, p.environment, p.original_transaction_id
            ORDER BY p.valid_from, p.valid_to, p.kind) AS covered_to
        FROM span p
    ) s
    WINDOW stream AS (
        PARTITION BY s.lane, s.environment, s.original_transaction_id
        ORDER BY s.valid_from, s.valid_to, s.kind)
), retry AS (
    SELECT r.lane, r.environment, r.original_transaction_id,
        coalesce(r.auto_renew_product_identifier, '') AS product_identifier, 'retry' AS kind,
        r.valid_from, r.valid_to, NULL::text AS end_reason, r.expiration_reason,
        NULL::bigint AS purchase_date_ms, NULL::bigint AS expires_date_ms
    FROM projection.renewal_states r WHERE r.status = 'billing_retry'
)
SELECT s.lane, s.environment, s.original_transaction_id,
    (SELECT c.customer_id FROM analytics.customers c
        WHERE c.lane = s.lane AND c.environment = s.environment
            AND c.original_transaction_id = s.original_transaction_id
            AND c.valid_from <= s.valid_from AND (c.valid_to IS NULL OR s.valid_from < c.valid_to)
        LIMIT 1) AS customer_id,
    s.product_identifier, s.kind, s.valid_from, s.valid_to, s.end_reason, s.expiration_reason, s.purchase_date_ms,
    s.expires_date_ms
FROM (
    SELECT * FROM span
    UNION ALL SELECT * FROM gap WHERE valid_from < valid_to
    UNION ALL SELECT * FROM retry
) s;
COMMENT ON VIEW analytics.periods IS
    'When each subscription gave access, was retried, and lay idle between: one row a stretch of time. A retry lies in a gap, or after the last period.'
