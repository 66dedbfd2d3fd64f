internal import Postgres
public import Projections

extension Projector {
    /// Drops tables that are ready to be promoted.
    ///
    /// - Parameters:
    ///   - chosen: Their projections; nil for all but those of other programs.
    ///   - options: The options.
    /// - Returns: The tables: schema and name, joined by a dot.
    /// - Throws: `databaseUnavailable`.
    public func discard(
        _ chosen: [any Projection]? = nil,
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> [String] {
        try await exclusively("tables discard", options) { session in
            let names = chosen?.map(\.name)
            let waiting = try await tables(in: session).filter { table in
                table.state == .ready && (names?.contains(table.name) ?? !table.isForeign)
            }
            try await supersedeWaiting(waiting.map(\.name), options, in: session)
            return try await removed(
                waiting.map { "\($0.schema).\($0.name)" }.sorted(),
                options,
                in: session
            )
        }
    }

    /// Drops the tables that are kept next to the live ones, in a schema of their own.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - options: The options.
    /// - Throws: `schemaTaken` if it contains no such tables, `viewsInUse`, `databaseUnavailable`.
    public func discard(
        schema: String,
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) {
        try await exclusively("tables discard", options) { session in
            let found = try await session.query(
                """
                SELECT FROM projection.ledger_projection
                WHERE \(Table.State.lasting.condition) AND build_schema = $1 LIMIT 1
                """,
                [.text(schema)]
            )
            guard found.count == 1 else {
                throw ProjectorError(
                    .schemaTaken,
                    "schema \(schema) contains no tables kept by a rebuild; "
                        + "`subledger tables` lists all tables"
                )
            }
            guard try await LeftOvers.drop(schema, options, .maintenance, in: session) else {
                throw ProjectorError(
                    .viewsInUse,
                    "the tables of schema \(schema) are still in use; pg_stat_activity shows which "
                        + "sessions read them. End those sessions, drop the views on the tables, "
                        + "and try again"
                )
            }
        }
    }

    /// Drops the views and live tables of projections that this build no longer has: an older one
    /// left them, and they are no longer kept up to date.
    ///
    /// - Parameters:
    ///   - names: The projections' names.
    ///   - options: The options.
    /// - Returns: The tables: schema and name, joined by a dot.
    /// - Throws: `unknownProjection` if one has no table at all, or this program has it;
    ///   `viewsInUse` if one is being read or a view depends on it; `databaseUnavailable`.
    public func discard(
        retired names: [String],
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> [String] {
        try await exclusively("tables discard", options) { session in
            let found = try await retiredTables(names, in: session)
            for name in names {
                do throws(PostgresError) {
                    try await dropView(name, in: session)
                } catch {
                    throw Projector.used(name, error) ?? error
                }
            }
            _ = try await LeftOvers.drop(options, in: session)
            return try await removed(found, options, in: session)
        }
    }

    // Those of these tables that no longer exist; the others are reported.
    private func removed(
        _ tables: [String],
        _ options: RebuildOptions,
        in session: PostgresSession
    ) async throws -> [String] {
        let left = try await session.query(
            "SELECT t FROM unnest($1::text[]) t WHERE to_regclass(t) IS NOT NULL",
            [.textArray(tables)]
        ).map { try $0.text(0) }
        for table in left {
            options.notice("\(table) is discarded but still in use; the next rebuild drops it")
        }
        return tables.filter { !left.contains($0) }
    }

    /// The names among these of projections that this program does not have.
    package func retired(among names: [String]) -> [String] {
        names.filter { name in !projections.contains { $0.name == name } }
    }

    private func retiredTables(
        _ names: [String],
        in session: PostgresSession
    ) async throws -> [String] {
        let rows = try await session.query(
            """
            SELECT DISTINCT name, build_schema || '.' || name FROM projection.ledger_projection
            WHERE \(Table.State.live.condition) AND name = ANY($1) ORDER BY 1
            """,
            [.textArray(names)]
        )
        let there = try rows.map { try $0.text(0) }
        for name in names where !there.contains(name) || retired(among: [name]).isEmpty {
            throw Projector.unknown(name, projections)
        }
        return try rows.map { try $0.text(1) }
    }

    private func dropView(
        _ name: String,
        in session: PostgresSession
    ) async throws(PostgresError) {
        try await session.transaction { session throws(PostgresError) in
            try session.execute(
                """
                \(ProjectionSchema.asOwner);
                SET LOCAL client_min_messages = warning;
                SET LOCAL lock_timeout = '\(ProjectionSchema.LockTimeout.maintenance.rawValue)';
                \(AnalyticsSchema.dropAll);
                DROP VIEW IF EXISTS \(ProjectionSchema.table(name, in: "projection"))
                """
            )
            try AnalyticsSchema.publish(in: session)
            try Table.State.live.unregister([name], in: session)
        }
    }

    private static func used(_ name: String, _ error: PostgresError) -> (any Error)? {
        let why: String
        switch error.sqlState {
        case "55P03": why = "a transaction reads it; pg_stat_activity shows which one. End it"
        case "2BP01": why = "\(LiveViews.words(of: error)). Drop what depends on it"
        default: return nil
        }
        return ProjectorError(
            .viewsInUse,
            "tables discard: the view projection.\(name) cannot be dropped: \(why), and try again"
        )
    }
}
