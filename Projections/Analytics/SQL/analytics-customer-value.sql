-- What each customer paid, by currency: all charges and refunds so far.
CREATE OR REPLACE VIEW analytics.customer_value AS
SELECT t.environment, c.customer_id, t.currency,
    min(t.start_time) AS first_seen_time,
    count(DISTINCT t.original_transaction_id) AS subscriptions_count,
    count(*) FILTER (WHERE p.is_payment) AS payments_count,
    count(*) FILTER (WHERE p.is_payment AND t.refunded_at IS NOT NULL) AS refunds_count,
    coalesce(sum(t.purchase_price_milliunits) FILTER (WHERE p.is_payment), 0)::bigint
        AS gross_milliunits,
    coalesce(sum(t.purchase_price_milliunits - t.price_milliunits) FILTER (WHERE p.is_payment),
        0)::bigint AS given_back_milliunits,
    coalesce(sum(t.price_milliunits) FILTER (WHERE p.is_payment), 0)::bigint AS net_milliunits,
    min(t.start_time) FILTER (WHERE p.is_payment) AS first_paid_time,
    max(t.start_time) FILTER (WHERE p.is_payment) AS last_paid_time,
    count(*) FILTER (WHERE t.plan_change IS NOT NULL) AS plan_changes_count
FROM analytics.transactions t
LEFT JOIN analytics.customers c
    ON c.lane = t.lane AND c.environment = t.environment
        AND c.original_transaction_id = t.original_transaction_id
        AND c.valid_from <= t.start_time AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
CROSS JOIN LATERAL (
    SELECT NOT t.is_shared AND t.purchase_price_milliunits > 0
        AS is_payment
) p
WHERE NOT t.is_repeated
GROUP BY t.environment, c.customer_id, t.currency;
COMMENT ON VIEW analytics.customer_value IS
    'What each customer paid and got back: one row a customer and currency. Purchases of which Apple did not say the price count nowhere.'
