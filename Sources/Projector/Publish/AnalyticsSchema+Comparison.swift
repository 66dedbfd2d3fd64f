internal import Events
internal import Postgres
internal import Projections

extension AnalyticsSchema {
    /// The views and functions that differ from those that ``publish(in:)`` creates, by name: who
    /// reads them trusts this program, and whoever may act as ledger_projector can replace them.
    ///
    /// In an open transaction, in which nothing remains: ours are made as temporary objects. Without
    /// the right to make those, or on a standby, nothing is compared. The server prints views
    /// otherwise once they were dumped and restored, so ours are made from what it prints, too. One
    /// that cannot be made, because a live view was replaced by one without a column, differs.
    static func altered(in session: isolated PostgresSession) throws(PostgresError) -> [String] {
        let known = try session.query(state)
        guard known.count == 1, try known[0].bool(0) else { return [] }
        let live = Set(try known[0].textArray(2)?.compactMap { $0 } ?? [])
        let wanted = AnalyticsRelation.available(with: live)

        try session.execute("SAVEPOINT analytics_comparison")
        var altered: [String] = []
        do throws(PostgresError) {
            try session.execute(
                "SET LOCAL check_function_bodies = off; SET LOCAL quote_all_identifiers = off"
            )
            let missing = try makeTemporary(wanted, in: session)
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
            let made = wanted.map(\.name).filter { !missing.contains($0) }
            altered = missing
            altered += try session.query(
                String(sql: embeddedFile("analytics-comparison.sql")),
                [
                    .textArray(made), .text(own), .textArray(prints.map(\.name)),
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

    // Makes ours as temporary objects; returns the names of those that cannot be made.
    private static func makeTemporary(
        _ relations: [AnalyticsRelation],
        in session: isolated PostgresSession
    ) throws(PostgresError) -> [String] {
        var missing: [String] = []
        for relation in relations {
            let own = relation.sql.replacing("analytics.", with: "pg_temp.")
            do throws(PostgresError) {
                try session.execute("SAVEPOINT one; \(own); RELEASE SAVEPOINT one")
            } catch {
                // 42501 is a missing right; the others say that something does not fit.
                guard let state = error.sqlState, state.hasPrefix("42"), state != "42501" else {
                    throw error
                }
                try session.execute("ROLLBACK TO SAVEPOINT one; RELEASE SAVEPOINT one")
                missing.append(relation.name)
            }
        }
        return missing
    }

    /// After so many dumps and restores, the server prints the same again.
    private static let restoresMax = 2

    private static let temporaryViews = """
        SELECT relname::text, pg_get_viewdef(oid) FROM pg_class
        WHERE relnamespace = pg_my_temp_schema() AND relkind = 'v' ORDER BY oid
        """
}
