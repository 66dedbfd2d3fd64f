-- What customers paid since their first payment, less what was given back.
SELECT {{by}}x.currency, count(*) AS customers_count,
    sum(x.payments)::bigint AS payments_count, sum(x.net)::bigint AS net_milliunits,
    round(sum(x.net) / count(*))::bigint AS ltv_milliunits{{totals}}
FROM (
    SELECT y.customer_id, y.currency, min(y.month) AS month, min(y.day) AS day,
        (array_agg(y.product_identifier ORDER BY y.start_time, y.product_identifier))[1] AS product_identifier,
        (array_agg(y.country ORDER BY y.start_time, y.product_identifier))[1] AS country,
        (array_agg(y.offer_type ORDER BY y.start_time, y.product_identifier))[1] AS offer_type,
        count(*) AS payments, coalesce(sum(y.net), 0) AS net{{of_customer}}
    FROM ({{payments}}) y GROUP BY 1, 2
) x
WHERE x.day BETWEEN $1::date AND $2::date
GROUP BY {{keys}}
