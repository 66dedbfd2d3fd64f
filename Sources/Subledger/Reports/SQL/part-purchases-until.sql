-- Purchases with what was given back of them by the last instant that counts: a refund or a reversal
-- after it is undone. All refunds are read, because PostgreSQL expects far fewer later ones than there
-- are, and then compares each of them with each purchase.
(SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal, t.purchase_date_ms,
        t.start_time, t.end_time, t.effective_end_time, t.product_identifier, t.country,
        t.offer_type, t.ownership_type, t.is_shared, t.is_paid, t.is_auto_renewable,
        t.added_to_purchase_date_ms,
        t.is_trial_period, t.currency, t.purchase_price_milliunits, t.mrr_milliunits,
        t.price_milliunits - coalesce(l.amount_milliunits, 0) AS price_milliunits,
        CASE WHEN l.is_later THEN l.refunded_at ELSE t.refunded_at END AS refunded_at
    FROM analytics.transactions t
    LEFT JOIN (
        SELECT m.lane, m.original_transaction_id, m.purchase_date_ms, m.product_identifier,
            bool_or(m.occurred_at >= $4) AS is_later,
            sum(m.amount_milliunits) FILTER (WHERE m.occurred_at >= $4)::bigint
                AS amount_milliunits,
            CASE WHEN count(*) FILTER (WHERE m.occurred_at < $4 AND m.movement = 'exit_refund')
                    > count(*) FILTER (WHERE m.occurred_at < $4
                        AND m.movement = 'refund_reversed')
                THEN max(m.occurred_at) FILTER (WHERE m.occurred_at < $4) END AS refunded_at
        FROM analytics.movements m
        WHERE m.environment = $3 AND m.movement IN ('exit_refund', 'refund_reversed')
        GROUP BY m.lane, m.original_transaction_id, m.purchase_date_ms, m.product_identifier
    ) l ON l.lane = t.lane AND l.original_transaction_id = t.original_transaction_id
        AND l.purchase_date_ms = t.purchase_date_ms
        AND l.product_identifier = t.product_identifier)
