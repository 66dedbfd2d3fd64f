internal import Postgres

/// Tables that no view shows and that are not kept: those of killed rebuilds, and those that others
/// have replaced.
enum LeftOvers {
    /// Drops tables that have no readers; the caller must hold the lock of rebuilds.
    ///
    /// - Returns: The schemas of rebuilds that did not complete.
    static func drop(
        _ options: Projector.RebuildOptions,
        in session: PostgresSession
    ) async throws -> [String] {
        var killed: [String] = []
        for row in try await session.query(schemas) {
            let schema = try row.text(0)
            let isGone = try await drop(schema, options, in: session)
            if isGone, try row.bool(1) { killed.append(schema) }
        }
        for row in try await session.query(tables) {
            let table = ProjectionSchema.table(try row.text(1), in: try row.text(0))
            _ = try await execute(
                """
                BEGIN;
                \(ProjectionSchema.staysHere);
                SET LOCAL ROLE ledger_projector;
                SET LOCAL lock_timeout = '\(ProjectionSchema.LockTimeout.readers.rawValue)';
                DROP TABLE IF EXISTS \(table);
                COMMIT
                """,
                options,
                in: session
            )
        }
        return killed
    }

    /// Drops a schema of tables and all records about it; false if one is still in use.
    static func drop(
        _ schema: String,
        _ options: Projector.RebuildOptions,
        _ timeout: ProjectionSchema.LockTimeout = .readers,
        in session: PostgresSession
    ) async throws -> Bool {
        var tables: [String] = []
        var others: [String] = []
        for row in try await session.query(relations, [.text(schema)]) {
            if try row.bool(1) {
                tables.append(try row.text(0))
            } else {
                others.append(try row.text(0))
            }
        }
        if !others.isEmpty {
            options.notice(
                "schema \(schema) is kept, because it also contains objects that no rebuild "
                    + "created: "
                    + others.joined(separator: ", ")
            )
        }
        return try await execute(
            ProjectionSchema.drop(schema, with: tables, isKept: !others.isEmpty, timeout),
            options,
            in: session
        )
    }

    // The relations of a schema, and whether a rebuild created each: all tables of a schema with a
    // rebuild's number, and in other schemas those that are listed.
    private static let relations = """
        SELECT c.relname, c.relkind = 'r' AND (n.nspname ~ '^projection_[0-9]{1,9}$' OR EXISTS (
            SELECT FROM projection.ledger_projection p
            WHERE p.build_schema = n.nspname AND p.name = c.relname))
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') ORDER BY 1
        """

    // False if it has readers, or a view depends on it: the next rebuild drops it, so new readers
    // do not queue behind the drop and the view is not removed.
    private static func execute(
        _ sql: String,
        _ options: Projector.RebuildOptions,
        in session: PostgresSession
    ) async throws -> Bool {
        do throws(PostgresError) {
            try await session.execute(sql)
            return true
        } catch {
            guard ["55P03", "2BP01"].contains(error.sqlState) else { throw error }
            try await session.execute("ROLLBACK")
            if error.sqlState == "2BP01" {
                // The detail contains the names of dependent objects, but no values.
                options.notice(
                    "an unneeded table could not be dropped: \(error) \(error.detail ?? ""); drop "
                        + "what depends on it, and the next rebuild drops the table"
                )
            }
            return false
        }
    }

    // Others may have schemas with such names; a comment marks those of rebuilds.
    private static func isOurs(_ schema: String) -> String {
        "starts_with(obj_description(\(schema), 'pg_namespace'), '\(ProjectionSchema.mark)')"
    }

    private static let schemas = """
        SELECT build_schema, true FROM projection.ledger_projection
        GROUP BY build_schema HAVING bool_and(\(Projector.Table.State.filling.condition))
        UNION ALL
        SELECT nspname, false FROM pg_namespace
        WHERE nspname ~ '^projection_[0-9]{1,9}$' AND \(isOurs("pg_namespace.oid"))
            AND nspname NOT IN (SELECT build_schema FROM projection.ledger_projection)
            AND nspname NOT IN (SELECT table_schema FROM information_schema.view_table_usage
            WHERE view_schema = 'projection')
        """

    private static let tables = """
        SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname ~ '^projection_[0-9]{1,9}$' AND \(isOurs("n.oid"))
            AND NOT EXISTS (
            SELECT FROM projection.ledger_projection p
            WHERE p.build_schema = n.nspname AND p.name = c.relname) AND NOT EXISTS (
            SELECT FROM information_schema.view_table_usage u
            WHERE u.view_schema = 'projection' AND u.table_schema = n.nspname
                AND u.table_name = c.relname)
        """
}
