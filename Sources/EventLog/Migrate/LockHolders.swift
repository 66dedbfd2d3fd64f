internal import Postgres

/// The sessions that use tables of a ledger, for the error that a schema change could not lock
/// them.
enum LockHolders {
    /// The most sessions that a message names.
    private static let shownMax = 5

    /// The error for a schema change that did not get a lock and was rolled back.
    static func refusal(
        after seconds: Int,
        in session: PostgresSession
    ) async throws -> EventLogError {
        let holders = try await session.query(
            select,
            [.int4(Int32(shownMax + 1))]
        ).map { try $0.text(0) }
        let shown = holders.prefix(shownMax).joined(separator: "; ")
        let more = holders.count > shownMax ? "; and others" : ""
        let nextStep =
            holders.isEmpty
            ? "No session holds a lock on them now. Run"
            : "Sessions that use them: \(shown)\(more). Wait until they end, or end them with "
                + "pg_terminate_backend, then run"
        return EventLogError(
            .tableInUse,
            "migrate: could not lock the ledger's tables within \(seconds) s; nothing was changed. "
                + "\(nextStep) `subledger migrate` again. To wait longer, use --lock-timeout; "
                + "appends also wait that long"
        )
    }

    // The oldest transactions first: the others wait behind them.
    private static let select = """
        SELECT format('process %s (%s%s%s): %s', l.pid, coalesce(a.usename, 'unknown role'),
            coalesce(', ' || nullif(a.application_name, ''), ''),
            coalesce(format(', %s s in its transaction',
                extract(epoch FROM clock_timestamp() - a.xact_start)::int), ''),
            string_agg(DISTINCT format('%s on %s.%s', l.mode, n.nspname, c.relname), ', '))
        FROM pg_locks l
        JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p', 'v')
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (n.nspname IN ('ledger', 'operation') OR starts_with(n.nspname, 'projection'))
        GROUP BY l.pid, a.usename, a.application_name, a.xact_start
        ORDER BY a.xact_start NULLS LAST, l.pid LIMIT $1
        """
}
