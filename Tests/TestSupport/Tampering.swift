package import Postgres

/// What a superuser does before bypassing a log to change it; none of our programs may.
package enum Tampering {
    /// Disables the append-only triggers of the log for the statements that follow; only `migrate`
    /// enables them again.
    ///
    /// They always fire, so `session_replication_role` does not bypass them. Citus disables only
    /// those of the coordinator, hence each shard's first, on its server.
    package static let begin = #"""
        DO $$
        DECLARE
            guarded regclass;
            its_name name;
        BEGIN
            IF to_regclass('pg_dist_partition') IS NOT NULL THEN
                PERFORM run_command_on_placements(
                    p.logicalrelid, 'ALTER TABLE %s DISABLE TRIGGER USER')
                FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
                WHERE c.relnamespace = to_regnamespace('ledger')::oid AND p.partmethod IN ('h', 'n');
                PERFORM set_config('citus.enable_unsafe_triggers', 'on', true);
            END IF;
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
    /// Changes the database as no program may: as a superuser and, if the statement names the log,
    /// without its triggers.
    package func meddle(_ sql: String) async throws {
        let session = try await PostgresSession.connect(self)
        let isTampering = sql.contains("ledger.")
        // One by one: Citus refuses a change of a table among other statements.
        for statement in isTampering ? ["BEGIN", Tampering.begin, sql, "COMMIT"] : [sql] {
            try await session.execute(statement)
        }
        await session.close()
    }
}
