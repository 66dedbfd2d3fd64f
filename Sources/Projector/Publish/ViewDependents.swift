internal import Postgres
internal import Projections

/// What others have put upon the views of projections, and what of it stands in a promotion's way.
enum ViewDependents {
    /// Refuses to build for a promotion that could not succeed, before hours of work.
    ///
    /// A view whose columns are gone or of another type, or that belongs to another role, has to be
    /// made anew: the server refuses that as long as anything depends on it, and takes its triggers
    /// and rules away. What is no view at all is left to whoever made it.
    ///
    /// - Throws: `viewsInUse`, with the names of what depends on the views.
    static func check(
        _ projections: [any Projection],
        doing action: String,
        in session: PostgresSession
    ) async throws {
        let names = projections.map(\.name)
        if let taken = try await session.query(takenSQL, [.textArray(names)]).first {
            throw notAView(try taken.text(0), doing: action)
        }
        let dependents = try await all(upon: names, in: session)
        guard !dependents.isEmpty else { return }
        let touched = projections.filter { dependents[$0.name] != nil }
        let changed = try await session.transaction { session throws(PostgresError) in
            try changedShapes(of: touched, in: session)
        }
        for name in changed {
            throw refusal(name, dependents[name] ?? [], doing: action)
        }
    }

    /// What depends on each of these views, as the server names it, in its order; views without
    /// dependents are left out.
    static func all(
        upon names: [String],
        in session: PostgresSession
    ) async throws -> [String: [String]] {
        var dependents: [String: [String]] = [:]
        for row in try await session.query(dependentsSQL, [.textArray(names)]) {
            dependents[try row.text(0), default: []].append(try row.text(1))
        }
        return dependents
    }

    /// The refusal to make a view anew.
    static func refusal(
        _ name: String,
        _ dependents: [String],
        doing action: String
    ) -> ProjectorError {
        let shown = dependents.prefix(shownMax).joined(separator: ", ")
        let more = dependents.count > shownMax ? " and \(dependents.count - shownMax) more" : ""
        return ProjectorError(
            .viewsInUse,
            "\(action): the view projection.\(name) has to be created again, because its columns or "
                + "its owner change, and \(shown)\(more) "
                + (dependents.count == 1 ? "depends" : "depend")
                + " on it. The live tables are as they were. Keep the definition (pg_get_viewdef, "
                + "pg_get_triggerdef, pg_get_ruledef), drop what depends, try again, and create it "
                + "again"
        )
    }

    private static func notAView(_ name: String, doing action: String) -> ProjectorError {
        ProjectorError(
            .viewsInUse,
            "\(action): projection.\(name) is something else than the view that belongs there. The "
                + "live tables are as they were. Rename or drop it, and try again"
        )
    }

    /// What is part of a view and goes with it, for SQL: triggers and rules, but its own rule.
    ///
    /// - Parameter view: The view's oid, or its name as an SQL text.
    /// - Returns: A query for the catalogs and oids of these parts.
    static func attached(to view: String) -> String {
        """
        SELECT 'pg_trigger'::regclass AS catalog, oid FROM pg_trigger
            WHERE tgrelid = \(view)::regclass AND NOT tgisinternal
        UNION ALL SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite
            WHERE ev_class = \(view)::regclass AND rulename <> '_RETURN'
        """
    }

    /// Most dependents that a message names.
    private static let shownMax = 10

    // The projections whose views belong to another role, or have columns that their tables do not
    // have. The tables are made, in a schema that nobody sees, and taken back.
    private static func changedShapes(
        of projections: [any Projection],
        in session: isolated PostgresSession
    ) throws(PostgresError) -> [String] {
        try session.execute(
            """
            SAVEPOINT shapes;
            SET LOCAL client_min_messages = warning;
            SET LOCAL ROLE ledger_projector
            """
        )
        var changed: [String] = []
        for projection in projections {
            try session.execute(projection.tableSQL.replacing("{{schema}}", with: probe))
            let name = projection.name
            let rows = try session.query(
                changedSQL,
                [.text("projection.\(name)"), .text("\(probe).\(name)")]
            )
            if try rows.single().bool(0) { changed.append(name) }
        }
        try session.execute("ROLLBACK TO SAVEPOINT shapes")
        return changed
    }

    /// Where tables are made to look at their columns, never committed: temporary ones, which take
    /// no right to make schemas.
    private static let probe = "pg_temp"

    private static let changedSQL = """
        SELECT EXISTS (
            SELECT FROM pg_class
            WHERE oid = to_regclass($1) AND relowner <> 'ledger_projector'::regrole
        ) OR EXISTS (
            SELECT FROM pg_attribute o LEFT JOIN pg_attribute n
                ON n.attrelid = to_regclass($2) AND n.attname = o.attname AND n.attnum > 0
            WHERE o.attrelid = to_regclass($1) AND o.attnum > 0 AND (n.attname IS NULL
                OR n.atttypid <> o.atttypid OR n.atttypmod <> o.atttypmod
                OR n.attcollation <> o.attcollation))
        """

    private static let takenSQL = """
        SELECT relname::text FROM pg_class
        WHERE relnamespace = to_regnamespace('projection') AND relkind <> 'v' AND relname = ANY($1)
        """

    // A rule stands for the view that it belongs to; a view's own rule is no dependent.
    private static let dependentsSQL = """
        SELECT DISTINCT v.relname::text COLLATE "C",
            CASE WHEN r.oid IS NULL THEN (own).type || ' ' || (own).identity
                ELSE (ruled).type || ' ' || (ruled).identity END COLLATE "C"
        FROM pg_class v
        JOIN pg_depend d ON d.deptype = 'n' AND (
            d.refclassid = 'pg_class'::regclass AND d.refobjid = v.oid
            OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (
                SELECT v.reltype UNION ALL SELECT typarray FROM pg_type WHERE oid = v.reltype))
        LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid,
            pg_identify_object(d.classid, d.objid, 0) own,
            pg_identify_object('pg_class'::regclass, r.ev_class, 0) ruled
        WHERE v.relnamespace = to_regnamespace('projection') AND v.relkind = 'v'
            AND v.relname = ANY($1) AND r.ev_class IS DISTINCT FROM v.oid
        UNION
        SELECT v.relname::text COLLATE "C", (part).type || ' ' || (part).identity COLLATE "C"
        FROM pg_class v, LATERAL (\(attached(to: "v.oid"))) own (catalog, oid),
            pg_identify_object(own.catalog, own.oid, 0) part
        WHERE v.relnamespace = to_regnamespace('projection') AND v.relkind = 'v'
            AND v.relname = ANY($1)
        ORDER BY 1, 2
        """
}
