internal import Postgres
internal import Projections

extension AnalyticsSchema {
    /// The views that are missing and the functions that differ from those that ``publish(in:)``
    /// creates, by name: who reads them trusts this program, and whoever may act as
    /// ledger_projector can replace them.
    ///
    /// In an open transaction that may write, in which nothing remains: ours are made as temporary
    /// objects; without the right to make those nothing is compared. Definitions of views are not:
    /// the server prints them otherwise once they were dumped and restored.
    static func altered(in session: isolated PostgresSession) throws(PostgresError) -> [String] {
        let known = try session.query(state)
        guard known.count == 1, try known[0].bool(0) else { return [] }
        let live = Set(try known[0].textArray(2)?.compactMap { $0 } ?? [])
        let wanted = AnalyticsRelation.available(with: live)
        let own = wanted.map { $0.sql.replacing("analytics.", with: "pg_temp.") }
        try session.execute("SAVEPOINT analytics_comparison")
        var altered: [String] = []
        do throws(PostgresError) {
            try session.execute(
                """
                SET LOCAL check_function_bodies = off;
                SET LOCAL quote_all_identifiers = off;
                \(own.joined(separator: ";\n"))
                """
            )
            // Texts of a view name others that need not be there.
            let names = AnalyticsRelation.all.map(\.name)
            let own = "\\m(analytics|pg_temp(_[0-9]+)?)\\.(\(names.joined(separator: "|")))\\M"
            altered = try session.query(comparison, [.textArray(wanted.map(\.name)), .text(own)])
                .map { row throws(PostgresError) in try row.text(0) }
        } catch {
            guard error.sqlState == "42501" else { throw error }
        }
        try session.execute(
            "ROLLBACK TO SAVEPOINT analytics_comparison; RELEASE SAVEPOINT analytics_comparison"
        )
        return altered
    }

    // Only the names of ours lose their schema: an object of someone else in schema analytics must
    // not pass for one of the server.
    private static let comparison = """
        SELECT DISTINCT n.name
        FROM unnest($1::text[]) AS n (name)
        LEFT JOIN pg_class v ON v.relnamespace = to_regnamespace('analytics')::oid
            AND v.relname = n.name AND v.relkind = 'v'
        LEFT JOIN pg_class w ON w.relnamespace = pg_my_temp_schema() AND w.relname = n.name
            AND w.relkind = 'v'
        LEFT JOIN pg_proc f ON f.pronamespace = to_regnamespace('analytics')::oid
            AND f.proname = n.name
        LEFT JOIN pg_proc g ON g.pronamespace = pg_my_temp_schema() AND g.proname = n.name
        WHERE w.oid IS NOT NULL AND (
                v.oid IS NULL OR v.reloptions IS DISTINCT FROM w.reloptions)
            OR g.oid IS NOT NULL AND (
                f.oid IS NULL OR f.proconfig IS DISTINCT FROM g.proconfig
                OR (f.prosecdef, f.provolatile, f.prolang, f.prorettype)
                    <> (g.prosecdef, g.provolatile, g.prolang, g.prorettype)
                OR regexp_replace(f.prosrc, $2, '\\3', 'g')
                    <> regexp_replace(g.prosrc, $2, '\\3', 'g'))
        ORDER BY 1
        """
}
