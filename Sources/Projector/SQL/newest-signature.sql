-- Advances the stored value of the lane $1 to the offset $2; it may be there already, or further.
-- OFFSET 0 makes the planner look events up by lane and offset.
INSERT INTO operation.newest_signature (lane, environment, lane_offset, as_of_ms)
SELECT $1, f.environment, $2, max(f.as_of_ms)
FROM (
    SELECT s.environment, s.as_of_ms FROM operation.newest_signature s
    WHERE s.lane = $1
    UNION ALL
    SELECT e.environment, e.as_of_ms FROM (
        SELECT coalesce(max(lane_offset), 0) AS lane_offset
        FROM operation.newest_signature WHERE lane = $1
    ) k
    CROSS JOIN LATERAL (
        SELECT e.environment, e.kind, e.as_of_ms FROM ledger.event e
        WHERE e.lane = $1 AND e.lane_offset > k.lane_offset
            AND e.lane_offset <= $2 OFFSET 0
    ) e
    WHERE {{is_apples}}
) f
GROUP BY f.environment ORDER BY f.environment
ON CONFLICT ON CONSTRAINT newest_signature_pkey DO UPDATE
    SET lane_offset = excluded.lane_offset, as_of_ms = excluded.as_of_ms
    WHERE excluded.lane_offset > newest_signature.lane_offset
