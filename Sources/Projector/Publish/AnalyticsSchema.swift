internal import Events
internal import Postgres
internal import Projections

/// Schema `analytics`: views over the live views of projections, which are published with them.
///
/// It contains only views whose projections all have live views. They are created in the
/// transaction that switches the live views to new tables, so no reader finds some of them missing,
/// and only if they differ from the existing ones.
enum AnalyticsSchema {
    /// The beginning of the comment on the schema if it is ours, and not another program's.
    static let mark = "Views for analysts"

    /// Drops the views and functions that depend on live views, inside a DO block with a variable
    /// `statement`; `publish` creates them again, with the privileges granted on them.
    static let makeWay = ours(embeddedFile("analytics-make-way.sql"))

    /// Creates the views and functions whose projections are live; does nothing if they exist as
    /// this program makes them.
    ///
    /// For a transaction that has switched to ledger_projector. A schema with that name that
    /// another role owns is left alone.
    static func publish(in session: isolated PostgresSession) throws(PostgresError) {
        let known = try session.query(state)
        guard known.count == 1, try known[0].bool(0) else { return }
        let live = Set(try known[0].textArray(2)?.compactMap { $0 } ?? [])
        let present = try known[0].textArray(3)?.compactMap { $0 } ?? []
        let wanted = AnalyticsRelation.available(with: live)
        let definitions = wanted.map(\.sql).joined(separator: ";\n")
        let comment = comment(for: definitions)
        if try known[0].textIfPresent(1) == comment,
            present.count == wanted.count,
            Set(present) == Set(wanted.map(\.name)), try altered(in: session).isEmpty
        {
            return
        }

        try session.execute("SAVEPOINT analytics; SET LOCAL check_function_bodies = off")
        var isReplaced = false
        do throws(PostgresError) {
            try session.execute(definitions)
            isReplaced = try altered(in: session).isEmpty
        } catch {
            // The columns changed, so the existing ones cannot be replaced in place.
            guard ["42P16", "42P13"].contains(error.sqlState) else { throw error }
        }
        // A further function of the name of one of ours is not replaced either.
        if !isReplaced {
            try session.execute(
                "ROLLBACK TO SAVEPOINT analytics; SET LOCAL check_function_bodies = off; "
                    + "\(dropAll); \(definitions)"
            )
        }

        try session.execute(
            """
            RELEASE SAVEPOINT analytics;
            \(try comments(of: wanted, in: session))
            \(grants(on: wanted));
            \(String(sql: embeddedFile("analytics-grant-again.sql")));
            GRANT USAGE ON SCHEMA analytics TO ledger_writer, ledger_reader, ledger_analyst;
            COMMENT ON SCHEMA analytics IS \(ProjectionSchema.literal(comment))
            """
        )
    }

    /// Drops them all, as ledger_projector.
    static let dropAll = """
        DO $subledger$
        DECLARE
            statement text;
        BEGIN
            \(makeWay)
        END
        $subledger$
        """

    private static let names = AnalyticsRelation.all.map { ProjectionSchema.literal($0.name) }
        .joined(separator: ", ")

    private static let views = """
        SELECT v.oid FROM pg_class v JOIN pg_namespace n ON n.oid = v.relnamespace
        WHERE n.nspname = 'analytics' AND v.relkind = 'v' AND v.relname IN (\(names))
        """

    private static let functions = """
        SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'analytics' AND p.proname IN (\(names))
        """

    // Gaps stand for our views and functions.
    private static func ours(_ resource: [UInt8]) -> String {
        String(sql: resource, filling: ["views": views, "functions": functions])
    }

    /// Whether the schema is ours, its comment, the live views, and its content.
    static let state = ours(embeddedFile("analytics-state.sql"))

    // The digest shows a newer program that it has to create them again.
    private static func comment(for definitions: String) -> String {
        let digest = Digest.of(Array(definitions.utf8)).description.prefix(16)
        return "\(mark), upon the live views of schema projection; metric_definition explains the "
            + "numbers. Made by subledger; definitions \(digest)."
    }

    private static func comments(
        of relations: [AnalyticsRelation],
        in session: isolated PostgresSession
    ) throws(PostgresError) -> String {
        let rows = try session.query(
            """
            SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.oid IN (\(views)) GROUP BY 1 ORDER BY 1
            """
        )
        var statements: [String] = []
        for row in rows {
            statements.append(
                ColumnVocabulary.commentSQL(
                    on: try row.textArray(1)?.compactMap { $0 } ?? [],
                    of: "analytics.\(try row.text(0))"
                )
            )
        }
        return statements.joined(separator: "\n")
    }

    private static func grants(on relations: [AnalyticsRelation]) -> String {
        let views = relations.filter { $0.grain != nil }.map { "analytics.\($0.name)" }
        return "GRANT SELECT ON \(views.joined(separator: ", ")) "
            + "TO ledger_writer, ledger_reader, ledger_analyst"
    }
}
