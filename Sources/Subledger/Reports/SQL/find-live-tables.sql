-- The lanes of live tables, each with the commit up to which it was followed, and the digest of
-- that commit in the log.
SELECT p.name, p.lane, p.version, p.lane_offset, p.catalog_version, (
    SELECT count(*) FROM projection.refused_stream r
    WHERE r.build_schema = p.build_schema AND r.name = p.name),
    p.commit_no, p.commit_digest, c.digest
FROM projection.ledger_projection p
LEFT JOIN ledger.commit c ON c.lane = p.lane AND c.commit_no = p.commit_no
WHERE p.state = 'live' AND p.name = ANY($1) ORDER BY p.name, p.lane
