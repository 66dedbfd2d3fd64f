-- The country and kind of offer of the purchase that a movement m is about, as p.
LEFT JOIN LATERAL (
    SELECT y.country, y.offer_type FROM analytics.transactions y
    WHERE y.lane = m.lane AND y.environment = m.environment
        AND y.original_transaction_id = m.original_transaction_id
        AND y.purchase_date_ms = m.purchase_date_ms
    ORDER BY y.product_identifier = m.product_identifier DESC, y.ordinal
    LIMIT 1
) p ON true
