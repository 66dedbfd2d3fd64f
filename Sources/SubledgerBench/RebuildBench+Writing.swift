import Postgres

extension RebuildBench {
    /// Copies the live tables inside the server, with their checks and indexes: what writing them
    /// takes if nothing has to be computed.
    func measureWriting(into results: inout RebuildBenchResults) async throws {
        var sessions: [PostgresSession] = []
        for _ in 0..<results.jobs { sessions.append(try await PostgresSession.connect(settings)) }
        try await sessions[0].execute("CREATE SCHEMA written")
        let copies = try await sessions[0].query(RebuildBench.copyStatements)
            .map { try $0.text(0) }
        let open = sessions
        try await results.record(.writeLimit) {
            try await WorkList.run(copies.count, workers: open.count) { worker, index in
                try await open[worker].execute(copies[index])
            }
        }
        try await sessions[0].execute("DROP SCHEMA written CASCADE")
        for session in sessions { await session.close() }
    }

    // For each live table, the statements that copy it; the largest table first.
    private static let copyStatements = """
        SELECT format('CREATE TABLE written.%1$I (LIKE %2$s INCLUDING CONSTRAINTS);
                INSERT INTO written.%1$I SELECT * FROM %2$s;', t.relname, t.oid::regclass)
                || coalesce((
                    SELECT string_agg(
                        regexp_replace(
                            pg_get_indexdef(i.indexrelid),
                            ' ON [^ ]+ ',
                            format(' ON written.%I ', t.relname)
                        ),
                        ';'
                    )
                    FROM pg_index AS i
                    WHERE i.indrelid = t.oid
                ), '')
        FROM pg_class AS t
        WHERE t.relkind = 'r' AND t.oid IN (
            SELECT d.refobjid
            FROM pg_class AS v
            JOIN pg_rewrite AS r ON r.ev_class = v.oid
            JOIN pg_depend AS d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
                AND d.refclassid = 'pg_class'::regclass
            WHERE v.relnamespace = 'projection'::regnamespace
        )
        ORDER BY pg_table_size(t.oid) DESC
        """
}
