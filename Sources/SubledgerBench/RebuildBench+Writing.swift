import Postgres

extension RebuildBench {
    /// Copies the live tables inside the server, with their checks and indexes: what writing them
    /// takes if nothing has to be computed.
    func measureWriting(into results: inout RebuildBenchResults) async throws {
        var sessions: [PostgresSession] = []
        for _ in 0..<results.jobs { sessions.append(try await PostgresSession.connect(settings)) }
        try await sessions[0].execute("CREATE SCHEMA written")
        let shares = RebuildBench.shares(try await copies(sessions[0]), among: results.jobs)
        try await results.record(.writeLimit) {
            try await withThrowingTaskGroup { group in
                for (session, share) in zip(sessions, shares) {
                    group.addTask {
                        for statements in share { try await session.execute(statements) }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await sessions[0].execute("DROP SCHEMA written CASCADE")
        for session in sessions { await session.close() }
    }

    /// For each live table, the statements that copy it.
    private func copies(_ session: PostgresSession) async throws -> [Copy] {
        try await session.query(RebuildBench.copyStatements).map {
            Copy(statements: try $0.text(0), byteCount: try $0.int8(1))
        }
    }

    private struct Copy {
        let statements: String
        let byteCount: Int64
    }

    // The largest table first, each to the connection that has the least so far.
    private static func shares(_ copies: [Copy], among count: Int) -> [[String]] {
        var shares = [[String]](repeating: [], count: count)
        var byteCounts = [Int64](repeating: 0, count: count)
        for copy in copies.sorted(by: { $0.byteCount > $1.byteCount }) {
            let least = byteCounts.indices.min { byteCounts[$0] < byteCounts[$1] } ?? 0
            shares[least].append(copy.statements)
            byteCounts[least] += copy.byteCount
        }
        return shares
    }

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
                ), ''),
            pg_table_size(t.oid)
        FROM pg_class AS t
        WHERE t.relkind = 'r' AND t.oid IN (
            SELECT d.refobjid
            FROM pg_class AS v
            JOIN pg_rewrite AS r ON r.ev_class = v.oid
            JOIN pg_depend AS d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
                AND d.refclassid = 'pg_class'::regclass
            WHERE v.relnamespace = 'projection'::regnamespace
        )
        """
}
