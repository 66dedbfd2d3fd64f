-- What was paid and is not yet earned: the sums over all purchases.
SELECT {{by}}x.currency,
    coalesce(sum(x.deferred) FILTER (WHERE {{begins}}), 0)::bigint
        AS opening_deferred_milliunits,
    sum(x.gross)::bigint AS gross_milliunits,
    sum(x.given_back)::bigint AS given_back_on_refund_date_milliunits,
    sum(x.estimate)::bigint AS upgrade_refund_estimate_milliunits,
    sum(x.recognised)::bigint AS recognised_milliunits,
    (coalesce(sum(x.deferred) FILTER (WHERE {{begins}}), 0)
        + sum(x.gross - x.given_back - x.estimate - x.recognised))::bigint
        AS closing_deferred_milliunits{{totals}}
FROM (
    {{recognised_revenue}}
) x
GROUP BY {{keys}}
HAVING sum(x.gross) <> 0 OR sum(x.given_back) <> 0 OR sum(x.estimate) <> 0
    OR sum(x.recognised) <> 0 OR sum(x.deferred) <> 0
