-- Views that need a last day use the day of Apple's newest signature, not the ledger's clock. The
-- function runs with the rights of its owner, so readers of the views need no rights on the log.
CREATE OR REPLACE FUNCTION analytics.last_signed_at() RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    -- Arrays, because Citus joins a distributed table in this way with nothing else.
    WITH kept AS MATERIALIZED (
        SELECT array_agg(s.lane) AS lanes, array_agg(s.lane_offset) AS lane_offsets,
            max(s.as_of_ms) AS as_of_ms
        FROM (
            SELECT lane, max(lane_offset) AS lane_offset, max(as_of_ms) AS as_of_ms
            FROM operation.newest_signature GROUP BY lane
        ) s
    )
    SELECT 'epoch'::timestamptz + interval '1 millisecond' * greatest(
        (SELECT k.as_of_ms FROM kept k), (
        -- Events that no follower has read yet. OFFSET 0 makes PostgreSQL look them up by lane and
        -- offset.
        SELECT max(e.as_of_ms)
        FROM ledger.lane l
        CROSS JOIN LATERAL (
            SELECT e.kind, e.as_of_ms FROM ledger.event e
            WHERE e.lane = l.lane AND e.lane_offset > coalesce((SELECT k.lane_offsets FROM kept k)[
                array_position((SELECT k.lanes FROM kept k), l.lane)], 0) OFFSET 0
        ) e
        WHERE e.kind IN ('transaction', 'renewal', 'notification')))
$$;
COMMENT ON FUNCTION analytics.last_signed_at() IS
    'The newest instant that Apple signed, of all environments: nothing is known of the time after it.'
