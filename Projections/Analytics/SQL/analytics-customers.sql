-- Which customer a subscription belongs to. One row for each customer of a subscription, with the
-- time in which it was theirs. All other views find the customer of a purchase only here. The times of
-- a subscription have no gaps: where no customer is named, the subscription is its own customer.
CREATE OR REPLACE VIEW analytics.customers AS
SELECT h.lane, h.environment, h.original_transaction_id,
    coalesce(h.customer, lower(h.app_account_token)) AS customer_id,
    CASE WHEN h.customer IS NULL THEN 'app_account_token' ELSE 'link' END AS customer_source,
    h.valid_from, h.valid_to
FROM projection.customers h
UNION ALL
SELECT s.lane, s.environment, s.original_transaction_id, s.original_transaction_id,
    'subscription', lower(g.span), upper(g.span)
FROM (
    SELECT DISTINCT t.lane, t.environment, t.original_transaction_id FROM projection.transactions t
) s
CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange('epoch', NULL)) - coalesce((
    SELECT range_agg(tstzrange(h.valid_from, h.valid_to))
    FROM projection.customers h
    WHERE h.lane = s.lane AND h.environment = s.environment
        AND h.original_transaction_id = s.original_transaction_id), '{}')) AS g (span);
COMMENT ON VIEW analytics.customers IS
    'Which subscription is whose: one row a customer of a subscription. By the link that held, else by its appAccountToken of the time; a subscription without either is a customer of its own. Subscriptions that only a shared receipt, appTransactionId or token joins are not joined here: `subledger customers show` does that.'
