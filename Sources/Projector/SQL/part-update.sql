-- Updates the record of a part to its current state.
UPDATE projection.ledger_projection
SET lane_offset = $4, commit_no = $5, commit_digest = $6, row_count = $7, digest = $8,
    updated_at = now()
WHERE lane = $1 AND build_schema = $2 AND name = $3
