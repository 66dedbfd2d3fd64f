-- When the newest rate to a currency, or, if it is asked for ($3), of commission and tax, was
-- imported, among those that were known.
SELECT (extract(epoch FROM max(r.recorded_at)) * 1000)::bigint
FROM (
    SELECT c.recorded_at FROM operation.currency_rate c WHERE c.base_currency = $1
    UNION ALL SELECT p.recorded_at FROM operation.proceeds_rate p WHERE $3
) r
WHERE $2::timestamptz IS NULL OR r.recorded_at <= $2
