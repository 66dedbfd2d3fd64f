-- The last days of the requested months, and the last requested day, as b.day, each with the first
-- instant that does not count: the midnight after it, or that of a last day that is not over.
(SELECT e.day, least((e.day + 1)::timestamp AT TIME ZONE 'UTC', $4) AS until
    FROM (SELECT least(m::date - 1, $2::date) AS day
        FROM unnest({{months}}) AS m) e
    WHERE e.day >= $1::date) b
