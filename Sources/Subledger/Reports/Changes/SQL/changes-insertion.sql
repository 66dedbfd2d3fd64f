-- Adds the rows that these subscriptions have in another state.
INSERT INTO projection.{{table}}
SELECT n.* FROM pg_temp.{{state}}_{{table}} n
JOIN pg_temp.changed_subscription c ON c.lane = n.lane
    AND c.original_transaction_id = n.original_transaction_id
WHERE c.cause = $2 AND n.environment = $1
