-- One row for each subscription, as of Apple's newest signature.
CREATE OR REPLACE VIEW analytics.subscriptions AS
-- Evaluated once, not for every row.
WITH a AS MATERIALIZED (SELECT analytics.last_signed_at() AS last_signed_at)
SELECT n.lane, n.environment, n.original_transaction_id,
    (SELECT c.customer_id FROM analytics.customers c
        WHERE c.lane = n.lane AND c.environment = n.environment
            AND c.original_transaction_id = n.original_transaction_id
            AND c.valid_from <= a.last_signed_at
            AND (c.valid_to IS NULL OR a.last_signed_at < c.valid_to)
        LIMIT 1) AS customer_id,
    n.product_identifier, n.subscription_group_identifier, n.country, n.offer_type,
    h.first_start_time, h.first_paid_time, n.start_time, n.end_time, n.effective_end_time,
    n.renewal_number, h.payments_count, n.is_paid, n.is_trial_period, n.is_sandbox,
    n.currency, n.purchase_price_milliunits, n.mrr_milliunits,
    s.status, s.is_auto_renew_on, s.auto_renew_product_identifier, s.expiration_reason,
    s.renewal_price_milliunits, s.renewal_currency, a.last_signed_at
FROM (
    SELECT DISTINCT ON (t.lane, t.environment, t.original_transaction_id) t.*
    FROM analytics.transactions t WHERE t.is_auto_renewable AND NOT t.is_repeated
    ORDER BY t.lane, t.environment, t.original_transaction_id, t.start_time DESC, t.ordinal DESC
) n
JOIN (
    SELECT t.lane, t.environment, t.original_transaction_id,
        min(t.start_time) AS first_start_time,
        min(t.start_time) FILTER (WHERE t.is_paid) AS first_paid_time,
        count(*) FILTER (WHERE t.is_paid) AS payments_count
    FROM analytics.transactions t WHERE t.is_auto_renewable AND NOT t.is_repeated
    GROUP BY t.lane, t.environment, t.original_transaction_id
) h USING (lane, environment, original_transaction_id)
CROSS JOIN a
LEFT JOIN projection.renewal_states s
    ON s.lane = n.lane AND s.environment = n.environment
        AND s.original_transaction_id = n.original_transaction_id
        AND s.valid_from <= a.last_signed_at
        AND (s.valid_to IS NULL OR a.last_signed_at < s.valid_to);
COMMENT ON VIEW analytics.subscriptions IS
    'Subscriptions: one row each, with its newest purchase, and its state at last_signed_at, the newest instant that Apple signed (no clock of ours); the state is NULL where the period has run out and Apple has not spoken since.'
