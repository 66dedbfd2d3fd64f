-- When the newest rate to a currency was imported, among those that were known.
SELECT (extract(epoch FROM max(recorded_at)) * 1000)::bigint
FROM operation.currency_rate
WHERE base_currency = $1 AND ($2::timestamptz IS NULL OR recorded_at <= $2)
