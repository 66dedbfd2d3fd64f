-- What is left of the price of a purchase t after tax, of which Apple keeps the rest of the share.
, CASE WHEN t.price_milliunits IS NOT NULL THEN round(t.price_milliunits
        * coalesce(r.rate, 1) * (100 - coalesce(x.percent, 0)) * {{share}}
        / 10000)::bigint ELSE 0 END AS proceeds_estimate
