-- Purchases with a price other than zero, or without a price from Apple, with their customer. The
-- customer is that of analytics.customers, which also lists customers without any other id: reading
-- it takes longer than reading all purchases.
SELECT {{purchase}},
    coalesce(c.customer, lower(c.app_account_token), t.original_transaction_id)
        AS customer_id, t.currency, t.start_time, t.refunded_at,
    t.purchase_price_milliunits AS gross, t.price_milliunits AS net{{of_purchase}}
FROM {{purchases_until}} t
LEFT JOIN projection.customers c ON c.lane = t.lane AND c.environment = t.environment
    AND c.original_transaction_id = t.original_transaction_id
    AND c.valid_from <= t.start_time AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
WHERE t.environment = $3 AND t.start_time < $4 AND NOT t.is_trial_period
    AND NOT t.is_shared
    AND t.purchase_price_milliunits IS DISTINCT FROM 0
