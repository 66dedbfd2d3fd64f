-- The subscriptions of each cause: how many, and the first $2 with their newest customer.
SELECT f.cause, f.subscriptions, f.original_transaction_id,
    coalesce(k.customer_id, f.original_transaction_id)
FROM (
    SELECT c.cause, c.lane, c.original_transaction_id,
        count(*) OVER (PARTITION BY c.cause) AS subscriptions,
        row_number() OVER (PARTITION BY c.cause ORDER BY c.original_transaction_id) AS place
    FROM pg_temp.changed_subscription c
) f
LEFT JOIN LATERAL (
    SELECT coalesce(h.customer, lower(h.app_account_token)) AS customer_id
    FROM projection.customers h
    WHERE h.lane = f.lane AND h.environment = $1
        AND h.original_transaction_id = f.original_transaction_id
    ORDER BY h.valid_from DESC LIMIT 1
) k ON true
WHERE f.place <= greatest($2, 1)
ORDER BY f.cause, f.place
