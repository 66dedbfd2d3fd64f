-- The same with amounts in the requested currency ($5), by the rate of the day of the change. An
-- amount without a rate keeps its currency.
(SELECT c.lane, c.environment, c.original_transaction_id, c.previous_product_identifier,
        c.effective_at, c.country, c.offer_type, r.rate_day,
        CASE WHEN r.rate IS NULL THEN c.currency ELSE $5::text END AS currency,
        CASE WHEN r.rate IS NULL THEN c.estimate
            ELSE round(c.estimate * r.rate)::bigint END AS estimate
    FROM {{source}} c
    LEFT JOIN rate_of_day r ON r.currency = c.currency
        AND r.day = (c.effective_at AT TIME ZONE 'UTC')::date)
