-- Price increases that need the customer's consent, by when it was asked for, and what followed. The
-- states of a subscription without a gap in which consent is pending are one request.
SELECT {{by}}count(*) AS consents_requested,
    count(*) FILTER (WHERE x.next = 'accepted') AS consents_accepted,
    count(*) FILTER (WHERE x.next = 'lost') AS consents_lost,
    count(*) FILTER (WHERE x.next = 'gone') AS consents_unanswered,
    count(*) FILTER (WHERE x.next IS NULL) AS open,
    round(10000.0 * count(*) FILTER (WHERE x.next = 'accepted')
        / nullif(count(*) FILTER (WHERE x.next <> 'gone'), 0))::bigint AS accepted_percent
FROM (
    SELECT (s.valid_from AT TIME ZONE 'UTC')::date AS day,
        date_trunc('month', s.valid_from AT TIME ZONE 'UTC') AS month,
        t.product_identifier, t.country, t.offer_type, n.next
    FROM (
        SELECT r.*, lag(r.price_consent) OVER (
            PARTITION BY r.lane, r.original_transaction_id ORDER BY r.valid_from) AS before
        FROM projection.renewal_states r
        WHERE r.environment = $3 AND r.valid_from < $4
    ) s
    -- The first state after it that is not pending, or in which the subscription has ended.
    LEFT JOIN LATERAL (
        SELECT CASE WHEN r.price_consent = 'accepted' THEN 'accepted'
            WHEN r.status IN ('expired', 'revoked') THEN 'lost' ELSE 'gone' END AS next
        FROM projection.renewal_states r
        WHERE r.lane = s.lane AND r.environment = s.environment
            AND r.original_transaction_id = s.original_transaction_id
            AND r.valid_from > s.valid_from AND r.valid_from < $4
            AND (r.price_consent IS DISTINCT FROM 'pending' OR r.status IN ('expired', 'revoked'))
        ORDER BY r.valid_from LIMIT 1
    ) n ON true
    LEFT JOIN LATERAL (
        SELECT y.product_identifier, y.country, y.offer_type FROM analytics.transactions y
        WHERE y.lane = s.lane AND y.environment = s.environment
            AND y.original_transaction_id = s.original_transaction_id
            AND y.is_auto_renewable AND y.start_time <= s.valid_from
        ORDER BY y.start_time DESC, y.ordinal DESC LIMIT 1
    ) t ON true
    WHERE s.price_consent = 'pending' AND s.before IS DISTINCT FROM 'pending'
        AND s.valid_from >= $1::date::timestamp AT TIME ZONE 'UTC'
) x
GROUP BY {{keys}}
