-- Monthly recurring revenue at the end of each month.
SELECT {{by}}x.day::text AS day, x.currency, count(*) AS active_paid,
    coalesce(sum(x.mrr_milliunits), 0)::bigint AS mrr_milliunits,
    coalesce(12 * sum(x.mrr_milliunits), 0)::bigint AS arr_milliunits,
    round(sum(x.mrr_milliunits) / count(*))::bigint AS arpu_milliunits{{totals}}
FROM ({{standing}}) x
WHERE x.is_paid
GROUP BY {{keys}}
