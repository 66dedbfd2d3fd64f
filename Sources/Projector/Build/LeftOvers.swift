internal import Events
internal import Postgres
internal import Projections

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
                \(ProjectionSchema.asOwner);
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
        for row in try await session.query(
            String(sql: embeddedFile("schema-relations.sql")),
            [.text(schema)]
        ) {
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

    private static let schemas = String(
        sql: embeddedFile("left-over-schemas.sql"),
        filling: [
            "mark": ProjectionSchema.mark, "filling": Projector.Table.State.filling.condition,
        ]
    )

    private static let tables = String(
        sql: embeddedFile("left-over-tables.sql"),
        filling: ["mark": ProjectionSchema.mark]
    )
}
