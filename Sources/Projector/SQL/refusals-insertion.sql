-- The streams $4, $5 are refused at the offsets $6 for the reasons $7.
INSERT INTO projection.refused_stream (lane, build_schema, name, environment,
    original_transaction_id, lane_offset, reason)
SELECT $1, $2, $3, r.*
FROM unnest($4::text[], $5::text[], $6::bigint[], $7::text[]) AS r
