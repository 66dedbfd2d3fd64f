-- Asked by triggers only, after all migrations: the table need not be there when this is made.
CREATE OR REPLACE FUNCTION ledger.is_erasing(
    asked_lane int, asked_environment text, asked_id text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- What this transaction has written bears its number; a transaction without one wrote nothing.
    PERFORM 1 FROM ledger.event e
    WHERE e.kind = 'erasure' AND e.xmin = pg_current_xact_id_if_assigned()::xid
        AND (asked_lane IS NULL OR e.lane = asked_lane)
        AND (asked_id IS NULL OR (e.original_transaction_id = asked_id
            AND e.environment = asked_environment));
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION ledger.is_erasing(int, text, text) IS
    'Whether this transaction has appended an event of kind erasure: in that lane, of that stream; anywhere where NULL is asked.';
