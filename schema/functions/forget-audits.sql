-- Removes the rows of the audit whose time is over, and no other: the service runs it, whose role may
-- not delete.
CREATE OR REPLACE FUNCTION ledger.forget_audits() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM operation.audit WHERE kept_until <= clock_timestamp();
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;
COMMENT ON FUNCTION ledger.forget_audits() IS
    'Removes the rows of operation.audit whose kept_until has passed, and returns how many.';
REVOKE ALL ON FUNCTION ledger.forget_audits() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.forget_audits() TO ledger_writer;
