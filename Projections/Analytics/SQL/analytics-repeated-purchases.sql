-- Purchases whose transaction id and line item another subscription has, too (Apple's data: trap
-- 50): all but the one under the least original transaction id. They count nowhere in money. The
-- tables are folds of single subscriptions, so they cannot show this. Nearly every ledger has none.
--
-- A function, which a query evaluates once: a view would be evaluated for every row where PostgreSQL
-- expects it to have many. It runs with the rights of its owner, like the views.
CREATE OR REPLACE FUNCTION analytics.repeated_purchases()
RETURNS TABLE (
    lane integer, environment text, original_transaction_id text, ordinal integer,
    purchase_date_ms bigint, product_identifier text
)
LANGUAGE sql STABLE SECURITY DEFINER COST 100000 ROWS 100 SET search_path = pg_catalog
AS $$
-- The index on store_transaction_id alone answers this. An array, so that the rows are looked up.
WITH several AS MATERIALIZED (
    SELECT array_agg(x.store_transaction_id) AS ids FROM (
        SELECT t.store_transaction_id FROM projection.transactions t
        WHERE t.store_transaction_id IS NOT NULL
        GROUP BY t.store_transaction_id HAVING count(*) > 1
    ) x
)
SELECT p.lane, p.environment, p.original_transaction_id, p.ordinal, p.purchase_date_ms,
    p.product_identifier
FROM (
    SELECT t.*, first_value(t.original_transaction_id) OVER (
        PARTITION BY t.environment, t.store_transaction_id, t.web_order_line_item_id
        ORDER BY t.original_transaction_id) AS counted
    FROM projection.transactions t
    WHERE t.store_transaction_id = ANY ((SELECT s.ids FROM several s)::text[])
        AND t.web_order_line_item_id !~* '{{placeholder}}'
) p
WHERE p.original_transaction_id <> p.counted
$$;
COMMENT ON FUNCTION analytics.repeated_purchases() IS
    'The purchases that do not count, because another subscription has the same transaction id and line item.'
