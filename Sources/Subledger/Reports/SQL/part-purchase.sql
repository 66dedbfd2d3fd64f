-- The dimensions of a purchase t, with its day.
(t.start_time AT TIME ZONE 'UTC')::date AS day,
    date_trunc('month', t.start_time AT TIME ZONE 'UTC') AS month,
    t.product_identifier, t.country, t.offer_type
