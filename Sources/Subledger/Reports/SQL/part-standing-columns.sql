-- The columns of a purchase t that runs just before b.until; added seats count with their
-- period.
b.day, b.until, t.lane, t.original_transaction_id, t.product_identifier, t.country,
    t.offer_type, t.currency, t.is_paid, t.is_trial_period, t.end_time,
    CASE WHEN t.added_to_purchase_date_ms IS NULL THEN t.mrr_milliunits ELSE (
        SELECT sum(x.mrr_milliunits)::bigint FROM {{transactions}} x
        WHERE x.lane = t.lane AND x.environment = t.environment
            AND x.original_transaction_id = t.original_transaction_id
            AND t.added_to_purchase_date_ms
                IN (x.purchase_date_ms, x.added_to_purchase_date_ms)
            AND x.start_time < b.until AND x.effective_end_time >= b.until
    ) END AS mrr_milliunits
