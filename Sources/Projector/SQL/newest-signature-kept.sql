-- The newest as-of up to some heads. The bounds are arrays, because Citus joins a distributed table in
-- this way with nothing else. OFFSET 0 makes the planner look events up by lane and offset.
WITH kept AS MATERIALIZED (
    SELECT array_agg(h.lane) AS lanes, array_agg(h.lane_offset) AS ends,
        array_agg(coalesce(k.lane_offset, 0)) AS starts, max(k.as_of_ms) AS as_of_ms
    FROM {{heads}}
    LEFT JOIN LATERAL (
        SELECT max(s.lane_offset) AS lane_offset,
            max(s.as_of_ms) FILTER (WHERE true{{kept_asked}}) AS as_of_ms
        FROM operation.newest_signature s WHERE s.lane = h.lane
    ) k ON k.lane_offset <= h.lane_offset
)
SELECT greatest((SELECT k.as_of_ms FROM kept k), (
    SELECT max(e.as_of_ms)
    FROM ledger.lane l
    CROSS JOIN LATERAL (
        SELECT e.environment, e.kind, e.as_of_ms FROM ledger.event e
        WHERE e.lane = l.lane
            AND e.lane_offset > (SELECT k.starts FROM kept k)[
                array_position((SELECT k.lanes FROM kept k), l.lane)]
            AND e.lane_offset <= (SELECT k.ends FROM kept k)[
                array_position((SELECT k.lanes FROM kept k), l.lane)] OFFSET 0
    ) e
    WHERE {{is_apples}}))
