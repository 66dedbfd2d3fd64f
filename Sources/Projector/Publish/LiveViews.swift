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
        let view = ProjectionSchema.literal("projection." + name)
        return """
            DO $subledger$
            DECLARE
                columns text;
                options text;
                kept text[];
                own text[];
                lost text;
                statement text;
            BEGIN
                \(ownComments(view, name, table))
                BEGIN
                    SELECT coalesce(' WITH (' || string_agg(
                        quote_ident(option_name) || '=' || quote_literal(option_value), ', ') || ')', '')
                    INTO options
                    FROM pg_class, pg_options_to_table(reloptions) WHERE oid = to_regclass(\(view));
                    SELECT string_agg(quote_ident(n.attname), ', ' ORDER BY o.attnum, n.attnum)
                    INTO columns
                    FROM pg_attribute n LEFT JOIN pg_attribute o
                        ON o.attrelid = to_regclass(\(view)) AND o.attname = n.attname
                            AND o.attnum > 0 AND NOT o.attisdropped
                    WHERE n.attrelid = \(ProjectionSchema.literal(table))::regclass
                        AND n.attnum > 0 AND NOT n.attisdropped;
                    EXECUTE 'CREATE OR REPLACE VIEW projection.\(name)' || options || ' AS SELECT '
                        || columns || \(ProjectionSchema.literal(" FROM " + table));
                EXCEPTION WHEN invalid_table_definition OR insufficient_privilege THEN
                    SELECT string_agg(pg_describe_object(catalog, oid, 0), ', ') INTO lost FROM (
                        SELECT 'pg_trigger'::regclass AS catalog, oid FROM pg_trigger
                        WHERE tgrelid = \(view)::regclass AND NOT tgisinternal
                        UNION ALL SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite
                        WHERE ev_class = \(view)::regclass AND rulename <> '_RETURN') AS part;
                    IF lost IS NOT NULL THEN
                        RAISE dependent_objects_still_exist USING MESSAGE =
                            'cannot drop view projection.\(name) without losing ' || lost;
                    END IF;
                    \(AnalyticsSchema.makeWay)
                    \(keep(view, name, table))
                    DROP VIEW projection.\(name);
                    EXECUTE 'CREATE VIEW projection.\(name)' || options
                        || \(ProjectionSchema.literal(" AS SELECT * FROM " + table));
                    FOREACH statement IN ARRAY coalesce(kept, '{}') LOOP
                        EXECUTE statement;
                    END LOOP;
                END;
                \(commentAgain(name, table))
            END
            $subledger$;
            GRANT SELECT ON projection.\(name) TO ledger_writer, ledger_reader
            """
    }

    // The statements that grant on a new view what was granted on the old one, and on those of its
    // columns that the new table has too. The owner makes all grants.
    private static func keep(_ view: String, _ name: String, _ table: String) -> String {
        let grantee = "CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END"
        let option = "CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END"
        return """
            SELECT array_agg(said.statement) INTO kept FROM (
                SELECT format('GRANT %s ON projection.\(name) TO %s%s', a.privilege_type,
                    \(grantee), \(option)) AS statement
                FROM pg_class c, aclexplode(c.relacl) a
                WHERE c.oid = \(view)::regclass AND a.grantee <> c.relowner
                UNION ALL
                SELECT format('GRANT %s (%I) ON projection.\(name) TO %s%s', a.privilege_type,
                    o.attname, \(grantee), \(option))
                FROM pg_attribute o JOIN pg_attribute n
                    ON n.attrelid = \(ProjectionSchema.literal(table))::regclass
                        AND n.attname = o.attname AND n.attnum > 0,
                    aclexplode(o.attacl) a
                WHERE o.attrelid = \(view)::regclass AND NOT o.attisdropped
            ) said;
            """
    }

    // Comments on the view that differ from those of its table: an operator wrote them.
    private static func ownComments(_ view: String, _ name: String, _ table: String) -> String {
        """
        SELECT array_agg(\(comment(on: name))) INTO own
        FROM pg_description d
        LEFT JOIN pg_attribute o ON o.attrelid = d.objoid AND o.attnum = d.objsubid
        WHERE d.objoid = to_regclass(\(view)) AND d.classoid = 'pg_class'::regclass
            AND (d.objsubid = 0 OR EXISTS (SELECT FROM pg_attribute n
                WHERE n.attrelid = \(ProjectionSchema.literal(table))::regclass
                    AND n.attname = o.attname AND n.attnum > 0))
            AND NOT EXISTS (
                SELECT FROM pg_rewrite r
                JOIN pg_depend p ON p.classid = 'pg_rewrite'::regclass AND p.objid = r.oid
                    AND p.refclassid = 'pg_class'::regclass AND p.refobjid <> r.ev_class
                JOIN pg_description s ON s.objoid = p.refobjid AND s.classoid = p.refclassid
                    AND s.description = d.description
                LEFT JOIN pg_attribute c ON c.attrelid = s.objoid AND c.attnum = s.objsubid
                WHERE r.ev_class = d.objoid AND c.attname IS NOT DISTINCT FROM o.attname);
        """
    }

    private static func commentAgain(_ name: String, _ table: String) -> String {
        """
        FOREACH statement IN ARRAY (SELECT coalesce(array_agg(\(comment(on: name))), '{}')
            FROM pg_description d
            LEFT JOIN pg_attribute o ON o.attrelid = d.objoid AND o.attnum = d.objsubid
            WHERE d.objoid = \(ProjectionSchema.literal(table))::regclass
                AND d.classoid = 'pg_class'::regclass) || coalesce(own, '{}')
        LOOP
            EXECUTE statement;
        END LOOP;
        """
    }

    // The statement that copies to the view the comment in `d` on a relation or on its column `o`.
    private static func comment(on name: String) -> String {
        """
        CASE WHEN d.objsubid = 0
            THEN format('COMMENT ON VIEW projection.\(name) IS %L', d.description)
            ELSE format('COMMENT ON COLUMN projection.\(name).%I IS %L', o.attname, d.description)
        END
        """
    }
}

extension LiveViews {
    /// The beginning of a transaction that switches views to tables.
    ///
    /// It waits only briefly for the lock on a view, because new readers wait behind it for as
    /// long.
    static let begin = """
        \(ProjectionSchema.staysHere);
        SET LOCAL ROLE ledger_projector;
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
