-- The subscriptions of an environment that continue another one, with that one.
SELECT t.lane, t.original_transaction_id, t.continued_original_transaction_id
FROM projection.transactions t
WHERE t.environment = $1 AND t.continued_original_transaction_id IS NOT NULL
ORDER BY t.lane, t.original_transaction_id
