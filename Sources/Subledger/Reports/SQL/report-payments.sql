-- Payments per customer and currency.
SELECT {{by}}x.customer_id, x.currency, count(*) AS payments_count,
    count(x.refunded_at) AS refunds_count,
    coalesce(sum(x.gross), 0)::bigint AS gross_milliunits,
    coalesce(sum(x.gross - x.net), 0)::bigint AS given_back_milliunits,
    coalesce(sum(x.net), 0)::bigint AS net_milliunits,
    (extract(epoch FROM min(x.start_time)) * 1000)::bigint AS first_paid_time,
    (extract(epoch FROM max(x.start_time)) * 1000)::bigint AS last_paid_time{{totals}}
FROM ({{payments}} AND {{is_asked_day}}) x
GROUP BY {{keys}}
