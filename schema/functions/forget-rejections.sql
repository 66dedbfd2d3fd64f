-- The only way by which ledger_writer removes rows: refusals that prove nothing and are old. Whoever
-- may only insert must not be able to remove the traces of this week, whatever it asks for.
CREATE OR REPLACE FUNCTION ledger.forget_rejections(days int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM ledger.rejection
    WHERE standing = 'unproven'
        AND received_at < clock_timestamp() - make_interval(days => greatest(days, 7));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;
COMMENT ON FUNCTION ledger.forget_rejections(int) IS
    'Deletes refusals of payloads that prove nothing and are older than that many days, at least 7; returns how many.';
REVOKE ALL ON FUNCTION ledger.forget_rejections(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.forget_rejections(int) TO ledger_writer;
