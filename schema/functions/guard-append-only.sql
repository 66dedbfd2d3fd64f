-- Puts the refusing triggers and the privileges on every table of the log, and on each of its
-- partitions, where a TRUNCATE could otherwise pass the parent's trigger by. Rejections are no part
-- of the log: their owner may delete them, for an attacker can send any amount.
CREATE OR REPLACE FUNCTION ledger.guard_append_only() RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    guarded regclass;
    replaced regprocedure;
BEGIN
    -- They are replaced by every migration: whoever is a member of the owner may run the next.
    FOR replaced IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'ledger'::regnamespace AND p.proowner <> 'ledger_owner'::regrole
            AND pg_has_role(current_user, p.proowner, 'MEMBER')
    LOOP
        EXECUTE format('ALTER ROUTINE %s OWNER TO ledger_owner', replaced);
    END LOOP;
    FOR guarded IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind IN ('r', 'p')
        ORDER BY c.relname
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO ledger_owner', guarded);
        EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, ledger_writer, ledger_reader', guarded);
        EXECUTE format('GRANT SELECT ON %s TO ledger_writer, ledger_reader', guarded);
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER append_only_statement BEFORE %s '
            'ON %s FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()',
            CASE WHEN guarded = 'ledger.rejection'::regclass
                OR EXISTS (SELECT FROM pg_inherits
                    WHERE inhrelid = guarded AND inhparent = 'ledger.rejection'::regclass)
            THEN 'UPDATE' ELSE 'UPDATE OR DELETE OR TRUNCATE' END,
            guarded);
    END LOOP;
    -- Rows are written once, so what autovacuum has to do is to freeze them soon and keep the
    -- statistics fresh; a partitioned table has no storage of its own to be told so.
    FOR guarded IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind = 'r'
            AND NOT coalesce(c.reloptions @> '{autovacuum_freeze_min_age=0}', false)
        ORDER BY c.relname
    LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_freeze_min_age = 0, '
            'autovacuum_vacuum_insert_scale_factor = 0.05, '
            'autovacuum_analyze_scale_factor = 0.05)', guarded);
    END LOOP;
    GRANT INSERT ON ledger.event, ledger.confirmation, ledger.evidence, ledger.root_certificate,
        ledger.evidence_segment, ledger.commit, ledger.rejection, ledger.ingestion, ledger.catalog,
        ledger.checkpoint TO ledger_writer;
    -- SELECT … FOR UPDATE asks for the privilege; the trigger refuses the use of it.
    GRANT UPDATE (lane) ON ledger.lane TO ledger_writer;
    REVOKE ALL ON FUNCTION ledger.erase FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION ledger.erase TO ledger_eraser;
END
$$;
COMMENT ON FUNCTION ledger.guard_append_only() IS
    'Makes every table of schema ledger append-only, rejections up to deletion by the owner: owner, privileges, refusing triggers. Run by the migrator after each migration.';
