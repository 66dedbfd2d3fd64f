internal import Events
internal import Projections

/// Schema `projection`: the views for readers, and the table that records what is behind them.
enum ProjectionSchema {
    /// Keeps the tables of projections on the coordinator of a Citus cluster; means nothing to a
    /// server without Citus.
    static let staysHere = "SET LOCAL citus.enable_ddl_propagation = off"

    /// The beginning of a transaction as the role that owns the tables.
    static let asOwner = "\(staysHere); SET LOCAL ROLE ledger_projector"

    /// Executed before tables are built, compared, promoted or discarded; repeating it changes nothing.
    static let bootstrap = String(
        sql: embeddedFile("projection-schema.sql"),
        filling: [
            "stays_here": staysHere, "analytics_mark": AnalyticsSchema.mark,
            "state_known": Projector.Table.State.allCases.condition,
            "ledger_projection_comments": ColumnVocabulary.commentSQL(
                on: [
                    "lane", "build_schema", "name", "state", "version", "catalog_version", "policy",
                    "lane_offset", "commit_no", "commit_digest", "row_count", "digest",
                    "updated_at", "fold",
                ],
                of: "projection.ledger_projection"
            ),
            "refused_stream_comments": ColumnVocabulary.commentSQL(
                on: [
                    "lane", "build_schema", "name", "environment", "original_transaction_id",
                    "lane_offset", "reason",
                ],
                of: "projection.refused_stream"
            ),
        ]
    )

    /// The beginning of the comment on a schema whose tables a rebuild created; `migrate` uses it
    /// to recognise the schemas that belong to ledger_projector.
    static let mark = "Tables of one rebuild"

    /// How long a drop may wait for a table, with new readers of that table waiting behind it.
    enum LockTimeout: String {
        /// Tables that were live a moment ago: their readers have precedence.
        case readers = "200ms"
        /// Tables that an operator drops: longer than autovacuum needs to notice that it blocks
        /// another session (`deadlock_timeout`, a second).
        case maintenance = "5s"
    }

    /// Drops these tables of a schema and the records about them, and the schema too unless it is
    /// kept; fails if a reader holds one for longer than the timeout.
    static func drop(
        _ schema: String,
        with tables: [String],
        isKept: Bool,
        _ timeout: LockTimeout
    ) -> String {
        // Not CASCADE, which would drop views of other owners.
        """
        BEGIN;
        \(asOwner);
        SET LOCAL client_min_messages = warning;
        SET LOCAL lock_timeout = '\(timeout.rawValue)';
        \(tables.map { "DROP TABLE \(table($0, in: schema));" }.joined(separator: "\n"))
        \(isKept ? "" : "DROP SCHEMA IF EXISTS \(quoted(schema));")
        DELETE FROM projection.refused_stream WHERE build_schema = \(literal(schema));
        DELETE FROM projection.ledger_projection WHERE build_schema = \(literal(schema));
        COMMIT
        """
    }

    /// A table of a schema, as SQL.
    static func table(_ name: String, in schema: String) -> String {
        quoted(schema) + "." + quoted(name)
    }

    /// An SQL identifier.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// An SQL text literal; backslashes have no meaning, because standard_conforming_strings is on.
    static func literal(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}
