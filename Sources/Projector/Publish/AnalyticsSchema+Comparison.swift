internal import Postgres
internal import Projections

extension AnalyticsSchema {
    /// The views and functions that differ from those that ``publish(in:)`` creates, by name: who
    /// reads them trusts this program, and whoever may act as ledger_projector can replace them.
    ///
    /// In an open transaction, in which nothing remains: ours are made as temporary objects. Without
    /// the right to make those, or on a standby, nothing is compared. The server prints views
    /// otherwise once they were dumped and restored, so ours are made from what it prints, too.
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
            var prints: [(name: String, print: String)] = []
            for _ in 0...restoresMax {
                let printed = try session.query(temporaryViews).map {
                    row throws(PostgresError) in (name: try row.text(0), print: try row.text(1))
                }
                prints += printed
                for (name, print) in printed {
                    try session.execute("CREATE OR REPLACE VIEW pg_temp.\(name) AS \(print)")
                }
            }
            altered = try session.query(
                comparison,
                [
                    .textArray(wanted.map(\.name)), .text(own), .textArray(prints.map(\.name)),
                    .textArray(prints.map(\.print)),
                ]
            ).map { row throws(PostgresError) in try row.text(0) }
        } catch {
            guard ["42501", "25006"].contains(error.sqlState) else { throw error }
        }

        try session.execute(
            "ROLLBACK TO SAVEPOINT analytics_comparison; RELEASE SAVEPOINT analytics_comparison"
        )
        return altered
    }

    /// After so many dumps and restores, the server prints the same again.
    private static let restoresMax = 2

    private static let temporaryViews = """
        SELECT relname::text, pg_get_viewdef(oid) FROM pg_class
        WHERE relnamespace = pg_my_temp_schema() AND relkind = 'v' ORDER BY oid
        """

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
                v.oid IS NULL OR v.reloptions IS DISTINCT FROM w.reloptions
                OR regexp_replace(pg_get_viewdef(v.oid), $2, '\\3', 'g') <> ALL (
                    SELECT regexp_replace(p.print, $2, '\\3', 'g')
                    FROM unnest($3::text[], $4::text[]) p (name, print) WHERE p.name = n.name))
            OR g.oid IS NOT NULL AND (
                f.oid IS NULL OR f.proconfig IS DISTINCT FROM g.proconfig
                OR (f.prosecdef, f.provolatile, f.prolang, f.prorettype, f.proisstrict)
                    <> (g.prosecdef, g.provolatile, g.prolang, g.prorettype, g.proisstrict)
                OR pg_get_function_arguments(f.oid) <> pg_get_function_arguments(g.oid)
                OR regexp_replace(f.prosrc, $2, '\\3', 'g')
                    <> regexp_replace(g.prosrc, $2, '\\3', 'g'))
        ORDER BY 1
        """
}
