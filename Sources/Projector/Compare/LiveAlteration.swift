internal import Events
internal import Postgres
internal import Projections

/// A live table, or its view, that differs from what a rebuild creates.
package struct LiveAlteration: Codable, Hashable, Sendable {
    /// The projection's name.
    package let projection: String
    /// What was altered.
    package let kind: Kind
    /// What differs, and what to do next, in one sentence; safe to log.
    package let message: String

    /// What can be altered.
    package enum Kind: String, Codable, Sendable {
        /// The table: it is gone, or has other columns.
        case table
        /// The view: it is gone, or shows something other than the table.
        case view
    }
}

extension LiveAlteration {
    /// The alterations of live tables and their views, at most one for each projection.
    ///
    /// - Parameters:
    ///   - live: The parts of the live tables.
    ///   - projections: The folds of the rebuilt tables.
    ///   - schema: The schema of the rebuilt tables.
    ///   - session: A session with an open transaction; nothing is left behind in it.
    /// - Returns: The alterations.
    /// - Throws: The server's error.
    static func all(
        of live: [ProjectionPart],
        comparedWith projections: [any Projection],
        in schema: String,
        _ session: isolated PostgresSession
    ) throws(PostgresError) -> [LiveAlteration] {
        // Definitions of views are compared as text.
        try session.execute(
            """
            SAVEPOINT live_alterations;
            SET LOCAL quote_all_identifiers = off
            """
        )

        var alterations: [LiveAlteration] = []
        for projection in projections {
            guard let part = live.first(where: { $0.name == projection.name }) else { continue }
            let name = "\(part.schema).\(part.name)"
            let repair = "`subledger rebuild \(part.name)` rebuilds it"
            let columns = try TableColumns(of: part.table, in: session)
            let rebuilt = try TableColumns(
                of: ProjectionSchema.table(part.name, in: schema),
                in: session
            )
            let shown = try session.query(isShown, [.text(part.schema), .text(part.name)])
            func table(_ message: String) -> LiveAlteration {
                LiveAlteration(
                    projection: part.name,
                    kind: .table,
                    message: "the live table \(name) \(message); \(repair)"
                )
            }
            if columns.all.isEmpty {
                alterations.append(table("no longer exists"))
            } else if part.version == projection.version, columns.all != rebuilt.all {
                alterations.append(
                    table(
                        "differs from a rebuild: it has the column "
                            + "\(columns.words(notIn: rebuilt)) instead of "
                            + "\(rebuilt.words(notIn: columns))"
                    )
                )
            } else if try !shown.single().bool(0) {
                alterations.append(hidden(part))
            }
        }

        try session.execute(
            "ROLLBACK TO SAVEPOINT live_alterations; RELEASE SAVEPOINT live_alterations"
        )
        return try alterations + ofAnalytics(in: session)
    }

    /// Views of schema `projection` that do not show the live tables, and what differs in
    /// `analytics`: what can be compared without a rebuild.
    ///
    /// - Parameters:
    ///   - live: The parts of the live tables.
    ///   - session: A session with an open transaction; nothing is left behind in it.
    /// - Returns: The alterations.
    /// - Throws: The server's error.
    static func ofViews(
        of live: [ProjectionPart],
        in session: isolated PostgresSession
    ) throws(PostgresError) -> [LiveAlteration] {
        // Whoever promotes tables holds the views only briefly.
        try session.execute("SET LOCAL quote_all_identifiers = off; SET LOCAL lock_timeout = '2s'")
        var known: Set<String> = []
        var alterations: [LiveAlteration] = []
        for part in live where known.insert(part.name).inserted {
            let shown = try session.query(isShown, [.text(part.schema), .text(part.name)])
            if try !shown.single().bool(0) { alterations.append(hidden(part)) }
        }
        return try alterations + ofAnalytics(in: session)
    }

    private static func hidden(_ part: ProjectionPart) -> LiveAlteration {
        LiveAlteration(
            projection: part.name,
            kind: .view,
            message: "projection.\(part.name) is not the view that shows the live table "
                + "\(part.schema).\(part.name); `subledger rebuild \(part.name)` rebuilds it"
        )
    }

    private static func ofAnalytics(
        in session: isolated PostgresSession
    ) throws(PostgresError) -> [LiveAlteration] {
        try AnalyticsSchema.altered(in: session).map { name in
            LiveAlteration(
                projection: "analytics.\(name)",
                kind: .view,
                message: "analytics.\(name) is not what this program creates; `subledger rebuild` "
                    + "creates it again"
            )
        }
    }

    /// Whether `operation.newest_signature`, which reports rest on, differs from the log.
    ///
    /// To be called before tables are filled, which reads it from the log again.
    static func ofSignatures(in session: PostgresSession) async throws -> [LiveAlteration] {
        try await session.query(NewestSignature.differing).map { row in
            LiveAlteration(
                projection: "operation.newest_signature",
                kind: .table,
                message: "operation.newest_signature differed from the log in lane "
                    + "\(try row.int4(0)) and was read from it again; reports may have been wrong"
            )
        }
    }

    private static let isShown = String(sql: embeddedFile("live-view-shown.sql"))
}
