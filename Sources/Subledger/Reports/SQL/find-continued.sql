-- The subscriptions of an environment that continue another one, each once, with that one: several
-- purchases of a subscription can name it.
SELECT t.lane, t.original_transaction_id, min(t.continued_original_transaction_id COLLATE "C")
FROM projection.transactions t
WHERE t.environment = $1 AND t.continued_original_transaction_id IS NOT NULL
GROUP BY t.lane, t.original_transaction_id
ORDER BY t.lane, t.original_transaction_id
