-- The other environments with events in the counted part of the log.
SELECT string_agg(DISTINCT e.environment, ', ' ORDER BY e.environment)
FROM ledger.event e
JOIN unnest($2::int[], $3::bigint[]) AS h (lane, lane_offset)
    ON h.lane = e.lane AND e.lane_offset <= h.lane_offset
WHERE e.environment NOT IN ($1, '')
