CREATE OR REPLACE VIEW analytics.retention AS
SELECT r.cohort, r.environment, r.product_identifier, r.period_length, r.period_number,
    r.cohort_size, r.had_opportunity, r.retained, r.retained_pending, r.ended_in_period,
    r.auto_renew_off_in_period, r.entered_period, r.completed_period
-- OFFSET 0 makes PostgreSQL evaluate this once, not for every row.
FROM (SELECT analytics.last_signed_at() AS last_signed_at OFFSET 0) a
CROSS JOIN LATERAL analytics.retention_at(a.last_signed_at) r;
COMMENT ON VIEW analytics.retention IS
    'How many subscriptions of a cohort still paid after n periods, as of Apple''s newest signature: one row a month, product and length of the first payment, and period. Retention is retained / had_opportunity. For another instant call analytics.retention_at(as_of).'
