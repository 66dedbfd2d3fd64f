-- When an event was recorded. Called only if a query selects the column. The function runs with the
-- rights of its owner, so readers of the views need no rights on the log. No view depends on the
-- columns of the log itself.
CREATE OR REPLACE FUNCTION analytics.recorded_at(lane integer, lane_offset bigint)
RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT e.recorded_at FROM ledger.event e WHERE e.lane = $1 AND e.lane_offset = $2
$$;
COMMENT ON FUNCTION analytics.recorded_at(integer, bigint) IS
    'When the event at an offset of a lane was recorded, on our clock.'
