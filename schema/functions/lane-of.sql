-- The lane of a subscription. Swift's LaneCount.lane(of:) is the same function; a test compares
-- them. Not hashtext: its value is no promise between versions of PostgreSQL. In PL/pgSQL, whose plan
-- is kept: a function in SQL is parsed again by every INSERT that checks a row with it. Names have their
-- schema, because a search path of its own would take longer than the rest, for every row.
CREATE OR REPLACE FUNCTION ledger.lane_of(original_transaction_id text) RETURNS int
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN CASE WHEN {{lanes}} OPERATOR(pg_catalog.=) 1 THEN 0 ELSE
        (('x' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.substr(pg_catalog.sha256(
            pg_catalog.convert_to(original_transaction_id, 'UTF8')), 1, 4), 'hex'))
            ::bit(32)::bigint OPERATOR(pg_catalog.&) ({{lanes}} OPERATOR(pg_catalog.-) 1))::int
    END;
END
$$;
COMMENT ON FUNCTION ledger.lane_of(text) IS
    'First four bytes of SHA-256 of the id''s UTF-8, modulo the number of lanes of this ledger.';
