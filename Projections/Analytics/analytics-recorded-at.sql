-- When an event was recorded. Called only where a query asks for the column. The owner's rights, so
-- that whoever may read the views needs none on the log; no view depends on the log's own columns.
CREATE OR REPLACE FUNCTION analytics.recorded_at(lane integer, lane_offset bigint)
RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
AS $$
    SELECT e.recorded_at FROM ledger.event e WHERE e.lane = $1 AND e.lane_offset = $2
$$;
COMMENT ON FUNCTION analytics.recorded_at(integer, bigint) IS
    'When the event at an offset of a lane was recorded, on our clock.'
