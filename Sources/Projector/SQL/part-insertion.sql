-- The parts of a table that is not filled yet: $1 the lanes, $2 their origins' digests.
INSERT INTO projection.ledger_projection
    (lane, build_schema, name, state, version, catalog_version, policy, lane_offset,
    commit_no, commit_digest, row_count, digest, updated_at, fold)
SELECT lane, $3, $4, '{{filling}}', $5, $6, $7, 0, 0, origin, 0, $8, now(), $9
FROM unnest($1::int[], $2::bytea[]) AS l (lane, origin)
