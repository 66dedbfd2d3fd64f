-- One row for each purchase as known now; transactions_history has one row for each of its states.
-- The columns are RevenueCat's and the ledger's own. The customer is looked up only if a query selects
-- it; a query that needs all customers should join analytics.customers.
CREATE OR REPLACE VIEW analytics.{{table}} AS
SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal,
    (SELECT c.customer_id FROM analytics.customers c
        WHERE c.lane = t.lane AND c.environment = t.environment
            AND c.original_transaction_id = t.original_transaction_id
            AND c.valid_from <= t.start_time AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
        LIMIT 1) AS customer_id,
    t.purchase_date_ms, t.expires_date_ms, t.store_transaction_id,
    t.duplicate_transaction_ids, t.web_order_line_item_id, t.app_account_token,
    'app_store'::text AS store, t.is_sandbox, t.country,
    CASE WHEN t.country IS NOT NULL THEN 'storefront' END AS country_source,
    t.product_identifier, t.product_duration, d.billing_duration,
    t.subscription_group_identifier, t.group_level, t.quantity, t.revoked_seat_quantity,
    t.seat_price_milliunits, t.added_to_purchase_date_ms, t.invitation_management, t.is_shared,
    t.bundle_product_identifier, t.bundle_original_transaction_id,
    t.continued_original_transaction_id,
    t.start_time, t.end_time, t.grace_period_end_time, t.effective_end_time,
    t.is_auto_renewable, t.is_trial_period, t.is_in_intro_offer_period, t.offer,
    CASE
        WHEN t.is_trial_period AND coalesce(t.apple_offer_type, 1) = 1 THEN 'free_trial'
        WHEN t.apple_offer_type = 1 THEN 'introductory'
        WHEN t.apple_offer_type = 2 THEN 'promotional'
        WHEN t.apple_offer_type = 3 THEN 'offer_code'
        WHEN t.apple_offer_type = 4 THEN 'win-back'
        WHEN t.apple_offer_type = 5 THEN 'retention'
        WHEN t.apple_offer_type IS NULL THEN 'none'
        ELSE 'unknown'
    END AS offer_type,
    t.offer_discount_type, t.ownership_type, t.transaction_reason, p.is_paid, t.currency,
    t.purchase_price_milliunits, t.price_milliunits,
    CASE
        WHEN NOT p.is_paid THEN NULL
        -- Added seats are paid for until the end of the period that runs.
        WHEN t.added_to_purchase_date_ms IS NOT NULL THEN
            CASE WHEN t.environment = 'Production' AND n.days > 0
                THEN round(t.purchase_price_milliunits::numeric * 30 / n.days)::bigint END
        WHEN m.months + m.days = 0 THEN NULL
        WHEN m.months > 0 THEN round(t.purchase_price_milliunits::numeric / m.months)::bigint
        WHEN m.days % 7 = 0 THEN round(t.purchase_price_milliunits::numeric * 28 / m.days)::bigint
        ELSE round(t.purchase_price_milliunits::numeric * 30 / m.days)::bigint
    END AS mrr_milliunits,
    t.renewal_number, t.consecutive_paid_periods, t.is_trial_conversion, t.is_resubscribe,
    t.gap_seconds, t.plan_change, t.previous_product_identifier, t.refunded_at,
    t.revocation_reason, t.revocation_percentage, t.is_upgraded, t.unsubscribe_detected_at,
    t.billing_issues_detected_at,
    EXISTS (
        SELECT FROM analytics.repeated_purchases() r
        WHERE r.lane = t.lane AND r.environment = t.environment
            AND r.original_transaction_id = t.original_transaction_id
            AND r.purchase_date_ms = t.purchase_date_ms
            AND r.product_identifier = t.product_identifier) AS is_repeated,
    t.positions[1] AS ledger_position_first,
    t.positions[cardinality(t.positions)] AS ledger_position_last{{knowledge}}
FROM projection.{{table}} t
CROSS JOIN LATERAL (
    SELECT t.is_auto_renewable AND NOT t.is_trial_period
        AND NOT t.is_shared
        AND t.purchase_price_milliunits IS DISTINCT FROM 0 AS is_paid
) p
CROSS JOIN LATERAL (
    SELECT (t.expires_date_ms - t.purchase_date_ms) / 86400000 AS days
) n
-- The length of a period. At the standard price, the catalog decides, because an extension moves the
-- end; otherwise RevenueCat's ranges of days do. Other environments than production compress time.
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN NOT t.is_auto_renewable OR t.added_to_purchase_date_ms IS NOT NULL THEN NULL
        WHEN t.apple_offer_type IS NULL AND t.product_duration IS NOT NULL THEN t.product_duration
        WHEN t.environment <> 'Production' THEN NULL
        WHEN n.days BETWEEN 0 AND 1 THEN 'P1D'
        WHEN n.days = 3 THEN 'P3D'
        WHEN n.days BETWEEN 6 AND 8 THEN 'P1W'
        WHEN n.days BETWEEN 12 AND 16 THEN 'P2W'
        WHEN n.days BETWEEN 27 AND 37 THEN 'P1M'
        WHEN n.days BETWEEN 58 AND 62 THEN 'P2M'
        WHEN n.days BETWEEN 88 AND 95 THEN 'P3M'
        WHEN n.days BETWEEN 179 AND 185 THEN 'P6M'
        WHEN n.days BETWEEN 363 AND 375 THEN 'P1Y'
    END AS billing_duration
) d
CROSS JOIN LATERAL (
    SELECT (12 * extract(year FROM d.billing_duration::interval)
            + extract(month FROM d.billing_duration::interval))::integer AS months,
        extract(day FROM d.billing_duration::interval)::integer AS days
) m;
COMMENT ON VIEW analytics.{{table}} IS
    '{{comment}}'
