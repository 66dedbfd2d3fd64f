-- The streams $4, $5 are no longer refused for the table $3 of the schema $2.
DELETE FROM projection.refused_stream r
USING unnest($4::text[], $5::text[]) AS d (environment, id)
WHERE r.lane = $1 AND r.build_schema = $2 AND r.name = $3
    AND r.environment = d.environment AND r.original_transaction_id = d.id
