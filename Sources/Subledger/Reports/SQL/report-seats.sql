-- Seats of multiseat subscriptions at the end of each month.
SELECT {{by}}x.day::text AS day, x.invitation_management,
    count(DISTINCT x.purchaser) AS subscriptions_count,
    coalesce(sum(x.sold), 0)::bigint AS seats_sold,
    CASE WHEN x.invitation_management = 'APPLE'
        THEN count(DISTINCT x.member) END AS seats_assigned,
    CASE WHEN x.invitation_management = 'APPLE'
            AND coalesce(sum(x.sold), 0) >= count(DISTINCT x.member)
        THEN (coalesce(sum(x.sold), 0) - count(DISTINCT x.member))::bigint
        END AS seats_free
FROM (
    SELECT b.day, t.product_identifier, t.country, t.invitation_management,
        CASE WHEN NOT t.is_shared THEN t.original_transaction_id END AS purchaser,
        CASE WHEN t.is_shared THEN t.original_transaction_id END AS member,
        CASE WHEN NOT t.is_shared THEN t.quantity - coalesce((
            SELECT sum(f.seat_quantity) FROM projection.refunds f
            WHERE f.lane = t.lane AND f.environment = t.environment
                AND f.original_transaction_id = t.original_transaction_id
                AND f.purchase_date_ms = t.purchase_date_ms
                AND f.product_identifier = t.product_identifier
                AND f.refund_kind = 'seats' AND f.refund_state = 'refunded'
                AND coalesce(f.revoked_at, f.announced_at) < b.until), 0)
            END AS sold
    FROM {{month_ends}}
    JOIN analytics.transactions t ON t.environment = $3 AND t.start_time < b.until
        AND t.effective_end_time >= b.until AND t.start_time < t.effective_end_time
    WHERE t.revoked_seat_quantity IS NOT NULL
) x
GROUP BY {{keys}}
