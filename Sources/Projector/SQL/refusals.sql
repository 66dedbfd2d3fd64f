-- The refusals of both sides, `both_sides`. The tables' names are unique, so each refusal has at
-- most one counterpart.
WITH compared AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS t (name, live, new)
), live_side AS (
    SELECT r.name, r.lane, r.environment, r.original_transaction_id AS id, r.lane_offset,
        r.reason
    FROM compared c JOIN projection.refused_stream r
        ON r.name = c.name AND r.build_schema = c.live
    WHERE (r.environment, r.original_transaction_id) NOT IN (
        SELECT * FROM unnest($4::text[], $5::text[]))
), new_side AS (
    SELECT r.name, r.lane, r.environment, r.original_transaction_id AS id, r.lane_offset,
        r.reason
    FROM compared c JOIN projection.refused_stream r
        ON r.name = c.name AND r.build_schema = c.new
    WHERE (r.environment, r.original_transaction_id) NOT IN (
        SELECT * FROM unnest($4::text[], $5::text[]))
), both_sides AS (
    SELECT name, lane, environment, id, l.lane_offset AS live_offset,
        l.reason AS live_reason, n.lane_offset AS new_offset, n.reason AS new_reason,
        l.lane_offset IS DISTINCT FROM n.lane_offset
            OR l.reason IS DISTINCT FROM n.reason AS differs
    FROM live_side l FULL JOIN new_side n USING (name, lane, environment, id)
)
