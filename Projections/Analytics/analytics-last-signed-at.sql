-- Views that need a last day use the day of Apple's newest signature, not the ledger's clock. The
-- function runs with the rights of its owner, so readers of the views need no rights on the log.
CREATE OR REPLACE FUNCTION analytics.last_signed_at() RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
AS $$
    SELECT 'epoch'::timestamptz + max(m.as_of_ms) * interval '1 millisecond'
    FROM ledger.lane l
    CROSS JOIN LATERAL (
        SELECT coalesce(max(s.lane_offset), 0) AS lane_offset, max(s.as_of_ms) AS as_of_ms
        FROM operation.newest_signature s WHERE s.lane = l.lane
    ) k
    -- Events that no follower has read yet. OFFSET 0 makes PostgreSQL look them up by lane and offset.
    CROSS JOIN LATERAL (
        SELECT k.as_of_ms UNION ALL SELECT max(e.as_of_ms)
        FROM (SELECT e.environment, e.kind, e.as_of_ms FROM ledger.event e
            WHERE e.lane = l.lane AND e.lane_offset > k.lane_offset OFFSET 0) e
        WHERE e.kind IN ('transaction', 'renewal', 'notification')
    ) m
$$;
COMMENT ON FUNCTION analytics.last_signed_at() IS
    'The newest instant that Apple signed, of all environments: nothing is known of the time after it.'
