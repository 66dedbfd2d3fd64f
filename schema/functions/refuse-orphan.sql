-- Raised by the first commit of a lane if the database has become another ledger: a pooler swapped
-- servers under the connection, say. The writer reads the head and decides again.
CREATE OR REPLACE FUNCTION ledger.refuse_orphan(lane int, commit_no bigint) RETURNS int
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'commit % of lane % does not follow the commit that it was built upon',
        commit_no, lane
        USING ERRCODE = 'LG002',
              HINT = 'Read the head of the lane and decide again.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_orphan(int, bigint) IS
    'Refuses the first commit of a lane if the database has become another ledger, with SQLSTATE LG002.';
