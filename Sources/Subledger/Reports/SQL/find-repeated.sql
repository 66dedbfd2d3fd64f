-- The purchases of an environment that are in the tables more than once, without the first.
SELECT r.lane, r.original_transaction_id, r.purchase_date_ms, r.product_identifier
FROM analytics.repeated_purchases() r WHERE r.environment = $1
ORDER BY r.lane, r.original_transaction_id, r.purchase_date_ms, r.product_identifier
