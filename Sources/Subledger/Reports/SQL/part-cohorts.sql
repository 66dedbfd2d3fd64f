-- The rows of retention for the requested months.
(SELECT r.cohort::timestamp AS month, r.*
    FROM analytics.retention_at($4 - interval '1 millisecond') r
    WHERE r.environment = $3
        AND r.cohort BETWEEN date_trunc('month', $1::date::timestamp)::date AND $2::date)
