-- Purchases with amounts in the requested currency ($5), by the rate of their first day. An amount
-- without a rate keeps its currency.
(SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal, t.purchase_date_ms,
        t.start_time, t.end_time, t.effective_end_time, t.product_identifier, t.country,
        t.offer_type, t.ownership_type, t.is_shared, t.is_paid, t.is_auto_renewable,
        r.rate,
        t.added_to_purchase_date_ms, t.is_trial_period, t.refunded_at, r.rate_day,
        CASE WHEN r.rate IS NULL THEN t.currency ELSE $5::text END AS currency,
        CASE WHEN r.rate IS NULL THEN t.purchase_price_milliunits
            ELSE round(t.purchase_price_milliunits * r.rate)::bigint END
            AS purchase_price_milliunits,
        CASE WHEN r.rate IS NULL THEN t.price_milliunits
            ELSE round(t.price_milliunits * r.rate)::bigint END AS price_milliunits,
        CASE WHEN r.rate IS NULL THEN t.mrr_milliunits
            ELSE round(t.mrr_milliunits * r.rate)::bigint END AS mrr_milliunits{{proceeds}}
    FROM {{source}} t
    LEFT JOIN rate_of_day r ON r.currency = t.currency
        AND r.day = (t.start_time AT TIME ZONE 'UTC')::date{{service}})
