internal import Events
internal import Postgres
internal import Projections

/// The views for readers.
enum LiveViews {
    /// One rebuild of a database at a time; the number spells "Rebuild".
    static let lock = "SELECT pg_advisory_lock(x'52656275696c64'::bigint)"

    /// The same, without waiting.
    static let tryLock = "SELECT pg_try_advisory_lock(x'52656275696c64'::bigint)"

    /// Lets a session be idle while others fill tables, without being ended by the server's
    /// timeouts.
    static let disableTimeouts = """
        SET idle_session_timeout = 0;
        SET idle_in_transaction_session_timeout = 0
        """

    /// Switches a view to its new table, and copies the comments of the table's columns.
    ///
    /// The view is replaced, not dropped, so privileges and views that depend on it stay: its
    /// columns keep their places, and new ones come after them. Only if a column is gone or has
    /// another type, or if another role owns the view, is it recreated, with the privileges granted
    /// on the old one; our own views in schema analytics are dropped, and `AnalyticsSchema` creates
    /// them again. The server refuses this if other objects depend on the view; triggers and rules
    /// on it, which would be lost, are refused as well. Its options are set again in either case,
    /// because a replacement resets them. A comment that an operator wrote on the view stays.
    static func point(_ name: String, to table: String) -> String {
        String(
            sql: embeddedFile("live-view.sql"),
            filling: [
                "make_way": AnalyticsSchema.makeWay, "name": name,
                "view": ProjectionSchema.literal("projection." + name),
                "table": ProjectionSchema.literal(table),
                "from": ProjectionSchema.literal(" FROM " + table),
                "selection": ProjectionSchema.literal(" AS SELECT * FROM " + table),
            ]
        )
    }
}

extension LiveViews {
    /// The beginning of a transaction that switches views to tables.
    ///
    /// It waits only briefly for the lock on a view, because new readers wait behind it for as
    /// long.
    static let begin = """
        \(ProjectionSchema.asOwner);
        SET LOCAL lock_timeout = 200
        """

    /// Switches the views to tables and rolls that back, so obstacles to a promotion are found
    /// before hours of work.
    ///
    /// A view that is being read is left to the promotion, which waits for its readers.
    ///
    /// - Parameters:
    ///   - tables: The tables.
    ///   - projections: The projections whose tables do not exist yet.
    ///   - action: The action requested by the user.
    ///   - session: A session without a transaction.
    /// - Throws: `viewsInUse`, with the obstacles that the server reports.
    static func rehearse(
        _ tables: ShadowTables,
        making projections: [any Projection] = [],
        doing action: String,
        in session: PostgresSession
    ) async throws {
        do throws(PostgresError) {
            try await session.transaction { session throws(PostgresError) in
                try session.execute("SAVEPOINT rehearsal; \(begin)")
                let schema = ProjectionSchema.quoted(tables.schema)
                for projection in projections {
                    try session.execute(projection.tableSQL.replacing("{{schema}}", with: schema))
                }
                for name in tables.names {
                    try session.execute(
                        point(name, to: ProjectionSchema.table(name, in: tables.schema))
                    )
                }
                try AnalyticsSchema.publish(in: session)
                try session.execute("ROLLBACK TO SAVEPOINT rehearsal")
            }
        } catch {
            if error.sqlState == "55P03" { return }
            throw refusal(error, doing: action) ?? error
        }
    }

    /// The error to report if the server does not let a view show its new table; nil for any other
    /// error.
    static func refusal(_ error: PostgresError, doing action: String) -> (any Error)? {
        guard ["2BP01", "42809"].contains(error.sqlState) else { return nil }
        return ProjectorError(
            .viewsInUse,
            "\(action): the views of schema projection cannot show the new tables: "
                + "\(words(of: error)). The live tables are unchanged. Save the definition of the "
                + "named object (pg_get_viewdef, pg_get_triggerdef, pg_get_ruledef), rename or "
                + "drop it, try again, and create it again"
        )
    }

    /// The server's description of dependent objects: names, without values.
    static func words(of error: PostgresError) -> String {
        [error.primaryMessage, error.detail].compactMap { $0 }.joined(separator: "; ")
            .replacing("\n", with: ", ")
    }
}
