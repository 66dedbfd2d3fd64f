-- The rate of commission and tax of the storefront and first day of a purchase t, as x; if its
-- storefront has none on that day, the one of all storefronts. Two joins, because a look-up for each
-- purchase is far slower.
LEFT JOIN proceeds_rate o ON o.storefront = t.country
    AND o.day <= (t.start_time AT TIME ZONE 'UTC')::date
    AND (o.next_day IS NULL OR o.next_day > (t.start_time AT TIME ZONE 'UTC')::date)
LEFT JOIN proceeds_rate e ON e.storefront = '*' AND o.storefront IS NULL
    AND e.day <= (t.start_time AT TIME ZONE 'UTC')::date
    AND (e.next_day IS NULL OR e.next_day > (t.start_time AT TIME ZONE 'UTC')::date)
CROSS JOIN LATERAL (
    SELECT coalesce(o.storefront, e.storefront) AS storefront,
        coalesce(o.tax_percent, e.tax_percent) AS percent,
        coalesce(o.commission_percent, e.commission_percent) AS commission_percent,
        coalesce(o.commission_after_year_percent, e.commission_after_year_percent)
            AS commission_after_year_percent
) x
