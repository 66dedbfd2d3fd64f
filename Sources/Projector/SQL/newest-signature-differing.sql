-- The lanes whose stored values are not those of the log.
SELECT DISTINCT k.lane
FROM operation.newest_signature k
CROSS JOIN LATERAL (
    SELECT max(e.as_of_ms) FILTER (WHERE {{is_apples}}) AS as_of_ms,
        extract(epoch FROM max(e.recorded_at) FILTER (WHERE e.kind = 'erased'))
            * 1000 + 300000 AS erased_as_of_ms
    FROM ledger.event e
    WHERE e.lane = k.lane AND e.lane_offset <= k.lane_offset
        AND e.environment = k.environment) e
WHERE k.as_of_ms < e.as_of_ms
    OR k.as_of_ms IS DISTINCT FROM e.as_of_ms
        AND (k.as_of_ms <= e.erased_as_of_ms) IS DISTINCT FROM true
ORDER BY 1
