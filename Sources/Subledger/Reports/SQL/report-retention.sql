-- Of the subscriptions by month of their first payment, those that still pay n periods later.
SELECT {{by}}x.period_length, x.period_number::bigint AS period_number,
    sum(x.had_opportunity)::bigint AS had_opportunity,
    sum(x.retained)::bigint AS retained,
    round(10000.0 * sum(x.retained) / nullif(sum(x.had_opportunity), 0))::bigint
        AS retained_percent,
    sum(x.retained_pending)::bigint AS retained_pending
FROM {{cohorts}} x
GROUP BY {{keys}} HAVING sum(x.had_opportunity) > 0
