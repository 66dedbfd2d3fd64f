-- The second belt of append-only, after privileges: it refuses, for everyone. Two things pass: the
-- blanking of rows in the transaction that appends the event of their erasure, and the removal of
-- bodies in the transaction that records the file which holds them. ledger.refuse_unless_blanked then
-- judges them row by row.
CREATE OR REPLACE FUNCTION ledger.refuse_change() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- On Citus the rows of a lane are in tables of its own, its shards, with numbers after their
    -- names; a trigger there may ask about no other lane.
    is_shard boolean := TG_TABLE_NAME ~ '_[0-9]+$';
    lane int;
BEGIN
    IF TG_OP = 'UPDATE' AND regexp_replace(TG_TABLE_NAME, '_[0-9]+$', '')
        IN ('event', 'confirmation', 'evidence')
    THEN
        IF is_shard THEN
            EXECUTE format('SELECT lane FROM %s LIMIT 1', TG_RELID::regclass) INTO lane;
            -- A lane without such rows has none to change.
            IF lane IS NULL THEN RETURN NULL; END IF;
        END IF;
        IF ledger.is_erasing(lane, NULL, NULL) THEN RETURN NULL; END IF;
        IF TG_TABLE_NAME = 'evidence' THEN
            PERFORM 1 FROM ledger.evidence_file f
            WHERE f.xmin = pg_current_xact_id_if_assigned()::xid;
            IF FOUND THEN RETURN NULL; END IF;
        END IF;
    END IF;
    RAISE EXCEPTION '%.% is append-only: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'LG001',
              HINT = 'A wrong event is answered by a new one; a wrong projection is rebuilt; '
                  'what must be forgotten is erased with subledger erase.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_change() IS
    'Refuses UPDATE, DELETE and TRUNCATE of append-only tables with SQLSTATE LG001, but for the erasures and the moved payloads of this transaction.';
