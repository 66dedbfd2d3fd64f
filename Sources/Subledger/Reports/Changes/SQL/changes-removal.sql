-- Removes the rows of the subscriptions of a cause ($2), in an environment ($1).
DELETE FROM projection.{{table}} t
USING pg_temp.changed_subscription c
WHERE c.cause = $2 AND t.environment = $1 AND t.lane = c.lane
    AND t.original_transaction_id = c.original_transaction_id
