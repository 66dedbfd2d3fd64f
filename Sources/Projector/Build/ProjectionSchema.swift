internal import Projections

/// Schema `projection`: the views for readers, and the table that records what is behind them.
enum ProjectionSchema {
    /// Keeps the tables of projections on the coordinator of a Citus cluster; means nothing to a
    /// server without Citus.
    static let staysHere = "SET LOCAL citus.enable_ddl_propagation = off"

    /// Executed once, by the first rebuild.
    static let bootstrap = """
        BEGIN;
        SET LOCAL client_min_messages = warning;
        \(staysHere);
        SELECT pg_advisory_xact_lock(x'50726f6a'::bigint);
        DO $$
        BEGIN
            -- IF NOT EXISTS would ask for the right to make schemas even where it is there.
            IF to_regnamespace('projection') IS NULL THEN
                CREATE SCHEMA projection AUTHORIZATION ledger_projector;
            END IF;
            IF to_regnamespace('analytics') IS NULL THEN
                CREATE SCHEMA analytics AUTHORIZATION ledger_projector;
                COMMENT ON SCHEMA analytics IS '\(AnalyticsSchema.mark).';
            END IF;
        END
        $$;
        SET LOCAL ROLE ledger_projector;
        GRANT USAGE ON SCHEMA projection TO ledger_writer, ledger_reader;
        DO $$
        BEGIN
            -- A schema of that name may be another owner's; publishing the views reports this.
            IF (SELECT nspowner = to_regrole('ledger_projector') FROM pg_namespace
                WHERE nspname = 'analytics') THEN
                GRANT USAGE ON SCHEMA analytics TO ledger_writer, ledger_reader;
            END IF;
        END
        $$;
        \(ledgerProjection)
        \(refusedStream)
        GRANT SELECT ON projection.ledger_projection, projection.refused_stream
            TO ledger_writer, ledger_reader;
        COMMIT
        """

    private static let ledgerProjection = """
        CREATE TABLE IF NOT EXISTS projection.ledger_projection (
            lane              int              NOT NULL,
            build_schema      text COLLATE "C" NOT NULL,
            name              text COLLATE "C" NOT NULL,
            state             text COLLATE "C" NOT NULL,
            version           int              NOT NULL,
            catalog_version int              NOT NULL,
            policy            text COLLATE "C",
            lane_offset       bigint           NOT NULL,
            commit_no         bigint           NOT NULL,
            commit_digest     bytea            NOT NULL,
            row_count         bigint           NOT NULL,
            digest            bytea            NOT NULL,
            updated_at        timestamptz      NOT NULL,
            CONSTRAINT ledger_projection_pkey PRIMARY KEY (lane, build_schema, name),
            CONSTRAINT ledger_projection_state_known
                CHECK (\(Projector.Table.State.allCases.condition))
        );
        COMMENT ON TABLE projection.ledger_projection IS 'Every table of a projection, lane by lane: which fold made it, up to which commit, with which content.';
        \(ColumnVocabulary.commentSQL(
            on: [
                "lane", "build_schema", "name", "state", "version", "catalog_version", "policy",
                "lane_offset", "commit_no", "commit_digest", "row_count", "digest", "updated_at",
            ],
            of: "projection.ledger_projection"
        ))
        """

    private static let refusedStream = """
        CREATE TABLE IF NOT EXISTS projection.refused_stream (
            lane                    int              NOT NULL,
            build_schema            text COLLATE "C" NOT NULL,
            name                    text COLLATE "C" NOT NULL,
            environment             text COLLATE "C" NOT NULL,
            original_transaction_id text COLLATE "C" NOT NULL,
            lane_offset             bigint           NOT NULL,
            reason                  text             NOT NULL,
            CONSTRAINT refused_stream_pkey PRIMARY KEY
                (lane, build_schema, name, environment, original_transaction_id)
        );
        COMMENT ON TABLE projection.refused_stream IS 'Subscriptions that a fold refused: the table of that name has no row of them.';
        \(ColumnVocabulary.commentSQL(
            on: [
                "lane", "build_schema", "name", "environment", "original_transaction_id",
                "lane_offset", "reason",
            ],
            of: "projection.refused_stream"
        ))
        """

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
        \(staysHere);
        SET LOCAL ROLE ledger_projector;
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
