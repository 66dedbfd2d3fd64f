-- Repetitions come in the transaction of their commit: in an earlier one, a forged row could not be
-- told from those that its digest covers.
CREATE OR REPLACE FUNCTION ledger.refuse_unaccounted() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- On Citus, the commit may be written by another connection to the server of the lane.
    IF TG_TABLE_NAME ~ '_[0-9]+$' OR pg_has_role(current_user, 'ledger_owner', 'MEMBER') THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM ledger.commit k
    WHERE k.lane = NEW.lane AND k.commit_no = NEW.commit_no
        AND k.xmin = pg_current_xact_id_if_assigned()::xid;
    IF FOUND THEN RETURN NULL; END IF;
    RAISE EXCEPTION 'ledger.%: a row of commit % of lane % refused: this transaction does not make it',
        TG_ARGV[0], NEW.commit_no, NEW.lane
        USING ERRCODE = 'LG003', HINT = 'Append with subledger.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_unaccounted() IS
    'Refuses, with SQLSTATE LG003, a row of a commit that this transaction has not inserted.';
