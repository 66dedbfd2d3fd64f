/// What a superuser does before changing a log behind its back: no program of ours may.
public enum Tampering {
    /// Disables the append-only triggers of the log, for the statements that follow it; nothing
    /// enables them again but `migrate`.
    ///
    /// They fire always, so `session_replication_role` does not pass them by.
    public static let begin = """
        DO $$
        DECLARE
            guarded regclass;
        BEGIN
            FOR guarded IN
                SELECT t.tgrelid FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                WHERE c.relnamespace = to_regnamespace('ledger')::oid
                    AND t.tgname = 'append_only_statement' AND t.tgenabled <> 'D'
            LOOP
                EXECUTE format('ALTER TABLE %s DISABLE TRIGGER append_only_statement', guarded);
            END LOOP;
        END
        $$;
        """
}
