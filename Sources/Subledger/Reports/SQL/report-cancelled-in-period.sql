-- Of the subscriptions by month of their first payment, those that entered, were switched off in,
-- and ended with their nth period.
SELECT {{by}}x.period_length, x.period_number::bigint AS period_number,
    sum(x.entered_period)::bigint AS entered_period,
    sum(x.auto_renew_off_in_period)::bigint AS auto_renew_off_in_period,
    round(10000.0 * sum(x.auto_renew_off_in_period)
        / nullif(sum(x.entered_period), 0))::bigint AS auto_renew_off_percent,
    sum(x.completed_period)::bigint AS completed_period,
    sum(x.ended_in_period)::bigint AS ended_in_period,
    round(10000.0 * sum(x.ended_in_period)
        / nullif(sum(x.completed_period), 0))::bigint AS ended_percent
FROM {{cohorts}} x
GROUP BY {{keys}} HAVING sum(x.entered_period) > 0
