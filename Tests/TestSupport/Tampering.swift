public import Postgres

/// What a superuser does before changing a log behind its back: no program of ours may.
public enum Tampering {
    /// Disables the append-only triggers of the log, for the statements that follow it; nothing
    /// enables them again but `migrate`.
    ///
    /// They fire always, so `session_replication_role` does not pass them by.
    public static let begin = #"""
        DO $$
        DECLARE
            guarded regclass;
            its_name name;
        BEGIN
            FOR guarded, its_name IN
                SELECT t.tgrelid, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                WHERE c.relnamespace = to_regnamespace('ledger')::oid
                    AND t.tgname LIKE 'append\_only\_%' AND t.tgenabled <> 'D'
                    AND t.tgparentid = 0
            LOOP
                EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', guarded, its_name);
            END LOOP;
        END
        $$;
        """#
}

extension ConnectionSettings {
    /// Does something to the database that no program may: as a superuser and, where it names the
    /// log, past its triggers.
    public func meddle(_ sql: String) async throws {
        let session = try await PostgresSession.connect(self)
        let isTampering = sql.contains("ledger.")
        try await session.execute(isTampering ? "\(Tampering.begin) \(sql)" : sql)
        await session.close()
    }
}
