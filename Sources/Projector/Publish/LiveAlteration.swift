internal import Postgres
internal import Projections

/// A live table, or the view that shows it, that is not as a rebuild makes it: somebody has
/// altered, replaced or dropped it.
public struct LiveAlteration: Sendable {
    /// The projection's name.
    public let projection: String
    /// The table or the view, with its schema.
    public let relation: String
    /// What is the matter with it.
    public let kind: Kind
    /// What is different, and what to do next, in one sentence; safe to log.
    public let message: String

    /// What can be the matter.
    public enum Kind: String, Sendable {
        /// There is no such table any more.
        case tableMissing
        /// The table has other columns, or columns of other types.
        case tableColumns
        /// There is no view.
        case viewMissing
        /// The view shows something else than the table, or less of it.
        case viewDefinition
        /// Something else than a view has its name.
        case notAView
    }
}

extension LiveAlteration {
    /// What was altered of live tables and their views.
    ///
    /// - Parameters:
    ///   - live: The live tables' parts.
    ///   - projections: The folds of this program: the names of the columns that a table of the same
    ///     version has.
    ///   - rebuilt: A schema with the same tables made anew, to compare the types of columns with;
    ///     nil for the names only.
    ///   - session: A session with an open transaction; nothing is left behind in it.
    /// - Returns: What was altered, at most two for each table: of itself and of its view.
    /// - Throws: What the server says.
    static func all(
        of live: [ProjectionPart],
        madeBy projections: [any Projection],
        comparedWith rebuilt: String?,
        in session: isolated PostgresSession
    ) throws(PostgresError) -> [LiveAlteration] {
        // One part for each table: its lanes share it.
        let tables = live.reduce(into: [ProjectionPart]()) { tables, part in
            if !tables.contains(where: { $0.table == part.table }) { tables.append(part) }
        }
        // Definitions of views are compared as text.
        try session.execute(
            """
            SAVEPOINT live_alterations;
            SET LOCAL search_path = pg_catalog;
            SET LOCAL quote_all_identifiers = off
            """
        )
        var alterations: [LiveAlteration] = []
        for row in try session.query(
            relations,
            [.textArray(tables.map(\.schema)), .textArray(tables.map(\.name))]
        ) {
            let name = try row.text(0)
            guard let part = tables.first(where: { $0.name == name }) else { continue }
            guard try row.bool(1) else {
                alterations.append(part.missing)
                continue
            }
            let columns = try columns(of: part, madeBy: projections, rebuilt, in: session)
            let isPlain = try row.bool(3)
            let showsAll = try row.bool(4)
            let view = part.view(
                kind: try row.textIfPresent(2),
                // A column that somebody has added to the table is in no view.
                isAsMade: isPlain && (showsAll || columns != nil)
            )
            alterations += [columns, view].compactMap { $0 }
        }
        try session.execute(
            "ROLLBACK TO SAVEPOINT live_alterations; RELEASE SAVEPOINT live_alterations"
        )
        return alterations
    }

    // Another version of the fold may make other columns.
    private static func columns(
        of part: ProjectionPart,
        madeBy projections: [any Projection],
        _ rebuilt: String?,
        in session: isolated PostgresSession
    ) throws(PostgresError) -> LiveAlteration? {
        guard
            let projection = projections.first(where: {
                $0.name == part.name && $0.version == part.version
            })
        else { return nil }
        var anew: TableColumns?
        if let rebuilt {
            let table = ProjectionSchema.table(part.name, in: rebuilt)
            anew = try TableColumns(of: table, in: session)
        }
        return part.columns(
            try TableColumns(of: part.table, in: session),
            insteadOf: projection,
            madeAnew: anew
        )
    }

    // Each live table: its name, whether it is there, what has its view's name, whether that shows
    // columns of the table under their names and nothing else, and whether all of them. A view's
    // definition is what the server makes of it: one column a line, before PostgreSQL 16 with the
    // table's name.
    private static let relations = """
        SELECT l.name, t.oid IS NOT NULL, v.relkind::text,
            coalesce(CASE v.relkind WHEN 'v' THEN
                regexp_replace(pg_get_viewdef(v.oid), '\\s+', ' ', 'g') IN (
                    \(definition("")), \(definition("quote_ident(l.name) || '.' || "))) END, false),
            NOT EXISTS (SELECT FROM pg_attribute a
                WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
                AND NOT EXISTS (SELECT FROM pg_attribute s
                    WHERE s.attrelid = v.oid AND s.attname = a.attname))
        FROM unnest($1::text[], $2::text[]) AS l (schema, name)
        LEFT JOIN pg_class t
            ON t.oid = to_regclass(format('%I.%I', l.schema, l.name)) AND t.relkind = 'r'
        LEFT JOIN pg_class v ON v.oid = to_regclass(format('projection.%I', l.name))
        ORDER BY l.name COLLATE "C"
        """

    private static func definition(_ prefix: String) -> String {
        """
        (SELECT regexp_replace(format(' SELECT %s FROM %I.%I;',
                string_agg(\(prefix)quote_ident(s.attname), ', ' ORDER BY s.attnum),
                l.schema, l.name), '\\s+', ' ', 'g')
            FROM pg_attribute s WHERE s.attrelid = v.oid AND s.attnum > 0)
        """
    }

    /// Most columns that a message names.
    fileprivate static let shownMax = 10
}

extension ProjectionPart {
    private var view: String { "projection.\(name)" }
    private var repair: String { "`subledger rebuild \(name)` builds it again" }

    fileprivate var missing: LiveAlteration {
        altered(.tableMissing, "the live table \(schema).\(name) is gone; \(repair)")
    }

    /// What is wrong with a table's columns; nil where nothing is.
    fileprivate func columns(
        _ found: TableColumns,
        insteadOf projection: any Projection,
        madeAnew: TableColumns?
    ) -> LiveAlteration? {
        let names = TableColumns.everywhere + projection.columns
        var words = names.compactMap { name -> String? in
            guard let column = found.named(name) else { return "column \(name) is gone" }
            guard let wanted = madeAnew?.named(name), wanted.words != column.words else {
                return nil
            }
            return "column \(name) is \(column.words) instead of \(wanted.words)"
        }
        words += found.all.filter { !names.contains($0.name) }.map { "column \($0.name) was added" }
        guard !words.isEmpty else { return nil }
        let more = words.count - LiveAlteration.shownMax
        let shown = words.prefix(LiveAlteration.shownMax).joined(separator: ", ")
        return altered(
            .tableColumns,
            "the live table \(schema).\(name) is not as a rebuild makes it: \(shown)"
                + (more > 0 ? " and \(more) more" : "") + "; \(repair)"
        )
    }

    /// What is wrong with what has the view's name; nil where nothing is.
    fileprivate func view(kind: String?, isAsMade: Bool) -> LiveAlteration? {
        guard let kind else {
            return altered(.viewMissing, "the view \(view) is gone; \(repair)")
        }
        guard kind == "v" else {
            return altered(
                .notAView,
                "\(view) is not the view of the live table \(schema).\(name), but something else "
                    + "of that name; rename or drop that, and `subledger rebuild \(name)` makes "
                    + "the view"
            )
        }
        guard !isAsMade else { return nil }
        return altered(
            .viewDefinition,
            "the view \(view) does not show the live table \(schema).\(name) as it is, because "
                + "its definition was replaced; \(repair)"
        )
    }

    private func altered(_ kind: LiveAlteration.Kind, _ message: String) -> LiveAlteration {
        let isTable = kind == .tableMissing || kind == .tableColumns
        return LiveAlteration(
            projection: name,
            relation: isTable ? "\(schema).\(name)" : view,
            kind: kind,
            message: message
        )
    }
}
