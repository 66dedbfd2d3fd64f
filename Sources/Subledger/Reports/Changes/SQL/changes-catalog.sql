-- Keeps the subscriptions whose rows change with the catalog, as cause 0.
INSERT INTO pg_temp.changed_subscription (lane, original_transaction_id, cause)
SELECT c.lane, c.original_transaction_id, 0 FROM ({{changed}}) c
