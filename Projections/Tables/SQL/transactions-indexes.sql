-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- Support also has the id of an order's one transaction.
CREATE INDEX transactions_by_store_transaction_id
    ON {{schema}}.transactions (store_transaction_id) WHERE store_transaction_id IS NOT NULL;

-- Reports join the few subscriptions that continue another one.
CREATE INDEX transactions_by_continuation
    ON {{schema}}.transactions (continued_original_transaction_id)
    WHERE continued_original_transaction_id IS NOT NULL;

-- Reports go by the month of purchase.
CREATE INDEX transactions_by_start
    ON {{schema}}.transactions (start_time);
