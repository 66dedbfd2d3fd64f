-- What is left of the price of a purchase t after tax, of which Apple keeps the rest of the share.
, CASE WHEN t.price_milliunits IS NOT NULL AND {{has_rate}} THEN round(t.price_milliunits
        * coalesce(r.rate, 1) * (100 - coalesce(x.percent, 0)) * {{share}}
        / 10000)::bigint ELSE 0 END AS proceeds_estimate,
    CASE WHEN {{has_rate}} THEN 0
        ELSE coalesce(round(t.price_milliunits * coalesce(r.rate, 1)), 0)::bigint
        END AS net_without_rate
