-- Keeps the subscriptions whose rows change with events, by what changed before an instant ($2): 1 a
-- purchase, 2 a refund, 4 a reversed refund, 8 a price that was not stated before, 16 anything else;
-- several together are a sum.
INSERT INTO pg_temp.changed_subscription (lane, original_transaction_id, cause)
WITH changed AS MATERIALIZED ({{changed}}), purchase AS (
    SELECT lane, original_transaction_id, bool_or(o.ordinal IS NULL) AS is_new,
        bool_or(n.ordinal IS NULL) AS is_gone,
        bool_or(o.ordinal IS NOT NULL AND o.purchase_price_milliunits IS NULL
            AND n.purchase_price_milliunits IS NOT NULL) AS is_priced
    FROM (
        SELECT t.* FROM projection.transactions t JOIN changed c USING (lane, original_transaction_id)
        WHERE t.environment = $1 AND t.start_time < $2
    ) o
    FULL JOIN (
        SELECT t.* FROM pg_temp.new_transactions t JOIN changed c USING (lane, original_transaction_id)
        WHERE t.environment = $1 AND t.start_time < $2
    ) n USING (lane, original_transaction_id, purchase_date_ms, product_identifier)
    GROUP BY lane, original_transaction_id
), refund AS (
    SELECT lane, original_transaction_id,
        count(*) FILTER (WHERE m.sign > 0 AND m.movement = 'exit_refund') AS refunds,
        count(*) FILTER (WHERE m.sign < 0 AND m.movement = 'exit_refund') AS old_refunds,
        count(m.amount_milliunits) FILTER (WHERE m.sign > 0 AND m.movement = 'exit_refund')
            AS amounts,
        count(m.amount_milliunits) FILTER (WHERE m.sign < 0 AND m.movement = 'exit_refund')
            AS old_amounts,
        coalesce(sum(m.sign * m.amount_milliunits) FILTER (WHERE m.movement = 'exit_refund'), 0)
            AS difference,
        sum(m.sign) FILTER (WHERE m.movement = 'refund_reversed') AS reversals
    FROM (
        SELECT -1 AS sign, o.* FROM projection.movements o
        UNION ALL SELECT 1, n.* FROM pg_temp.new_movements n
    ) m
    JOIN changed c USING (lane, original_transaction_id)
    WHERE m.environment = $1 AND m.occurred_at < $2
        AND m.movement IN ('exit_refund', 'refund_reversed')
    GROUP BY lane, original_transaction_id
), found AS (
    SELECT c.lane, c.original_transaction_id, p.is_gone,
        CASE WHEN p.is_new THEN 1 ELSE 0 END
            + CASE WHEN r.refunds > r.old_refunds OR r.refunds = r.old_refunds
                AND r.amounts = r.old_amounts AND r.difference <> 0 THEN 2 ELSE 0 END
            + CASE WHEN r.reversals > 0 THEN 4 ELSE 0 END
            + CASE WHEN p.is_priced THEN 8 ELSE 0 END AS cause
    FROM changed c
    LEFT JOIN purchase p USING (lane, original_transaction_id)
    LEFT JOIN refund r USING (lane, original_transaction_id)
)
SELECT f.lane, f.original_transaction_id,
    f.cause + CASE WHEN f.cause = 0 OR f.is_gone THEN 16 ELSE 0 END
FROM found f
