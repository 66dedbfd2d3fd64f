-- Whose a subscription is. One row for each customer of a subscription, with the time in which it
-- was theirs; all other views find the customer of a purchase here and nowhere else.
CREATE OR REPLACE VIEW analytics.customers AS
SELECT t.lane, t.environment, t.original_transaction_id,
    coalesce(
        (array_agg(t.app_account_token ORDER BY t.start_time DESC, t.ordinal DESC)
            FILTER (WHERE t.app_account_token IS NOT NULL))[1],
        t.original_transaction_id) AS customer_id,
    CASE WHEN count(t.app_account_token) > 0 THEN 'app_account_token' ELSE 'subscription' END
        AS customer_source,
    min(t.start_time) AS valid_from,
    NULL::timestamptz AS valid_to
FROM projection.transactions t
GROUP BY t.lane, t.environment, t.original_transaction_id;
COMMENT ON VIEW analytics.customers IS
    'Which subscription is whose: one row a customer of a subscription. By the newest appAccountToken of its purchases; a subscription without one is a customer of its own.'
