-- Subscriptions of an environment ($1) with rows in a table that another state of it has not, or has
-- with other values. Which events a row cites does not matter.
SELECT lane, original_transaction_id
FROM projection.{{table}} o
FULL JOIN pg_temp.{{state}}_{{table}} n
    USING (lane, environment, original_transaction_id, ordinal)
WHERE environment = $1 AND ROW({{old}}) IS DISTINCT FROM ROW({{new}})
