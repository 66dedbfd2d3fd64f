-- Tables for the query's WITH clause, each with a comma before it: the rates to the requested
-- currency ($5) that were known ($6), for at most $7 days after their own, and taxes ($8, $9). Days
-- are joined with rates once; a look-up for each purchase is far slower. The rates of commission and
-- tax that were known hold from their own day until that of the next one.
, rate_of_day AS MATERIALIZED (
    SELECT r.currency, r.day AS rate_day, d::date AS day, r.rate
    FROM (
        SELECT k.currency, k.day, k.rate,
            lead(k.day) OVER (PARTITION BY k.currency ORDER BY k.day) AS next_day
        FROM (
            SELECT DISTINCT ON (c.currency, c.day) c.currency, c.day, c.rate
            FROM operation.currency_rate c
            WHERE c.base_currency = $5::text
                AND ($6::timestamptz IS NULL OR c.recorded_at <= $6::timestamptz)
            ORDER BY c.currency, c.day, c.revision DESC
        ) k
    ) r
    CROSS JOIN LATERAL generate_series(r.day::timestamp,
        least(r.next_day - 1, r.day + $7::int)::timestamp, interval '1 day') d
), tax AS MATERIALIZED (
    SELECT country, percent::numeric
    FROM unnest($8::text[], $9::text[]) AS g (country, percent)
), proceeds_rate AS MATERIALIZED (
    SELECT k.*, lead(k.day) OVER (PARTITION BY k.storefront ORDER BY k.day) AS next_day
    FROM (
        SELECT DISTINCT ON (c.storefront, c.day) c.storefront, c.day, c.commission_percent,
            c.commission_after_year_percent, c.tax_percent
        FROM operation.proceeds_rate c
        WHERE $6::timestamptz IS NULL OR c.recorded_at <= $6::timestamptz
        ORDER BY c.storefront, c.day, c.revision DESC
    ) k
)
