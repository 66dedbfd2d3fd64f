-- The second belt of append-only, after privileges: it refuses, for everyone. One thing passes: the
-- blanking of rows in the transaction that appends the event of their erasure, which
-- ledger.refuse_unless_blanked then judges row by row.
CREATE OR REPLACE FUNCTION ledger.refuse_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME IN ('event', 'confirmation', 'evidence')
        AND ledger.is_erasing(NULL, NULL, NULL)
    THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'ledger.% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'LG001',
              HINT = 'A wrong event is answered by a new one; a wrong projection is rebuilt; '
                  'what must be forgotten is erased with subledger erase.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_change() IS
    'Refuses UPDATE, DELETE and TRUNCATE of the log with SQLSTATE LG001, but for the erasures of this transaction.';

-- Asked by triggers only, after all migrations: the table need not be there when this is made.
CREATE OR REPLACE FUNCTION ledger.is_erasing(
    asked_lane int, asked_environment text, asked_id text) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    -- What this transaction has written bears its number; a transaction without one wrote nothing.
    RETURN EXISTS (
        SELECT FROM ledger.event e
        WHERE e.kind = 'erasure' AND e.xmin = pg_current_xact_id_if_assigned()::xid
            AND (asked_lane IS NULL OR e.lane = asked_lane)
            AND (asked_id IS NULL OR (e.original_transaction_id = asked_id
                AND e.environment = asked_environment)));
END
$$;
COMMENT ON FUNCTION ledger.is_erasing(int, text, text) IS
    'Whether this transaction has appended an event of kind erasure: in that lane, of that stream; anywhere where NULL is asked.';
