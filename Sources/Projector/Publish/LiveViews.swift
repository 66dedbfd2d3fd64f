/// The views that people read.
enum LiveViews {
    /// One rebuild of a database at a time; the number spells "Rebuild".
    static let lock = "SELECT pg_advisory_lock(x'52656275696c64'::bigint)"

    /// The same, without waiting.
    static let tryLock = "SELECT pg_try_advisory_lock(x'52656275696c64'::bigint)"

    /// A session that is idle while others fill tables, which no server's housekeeping may end.
    static let patience = """
        SET idle_session_timeout = 0;
        SET idle_in_transaction_session_timeout = 0
        """

    /// Points a view at its new table.
    ///
    /// Replaced, not dropped, so that grants and views upon it stay: the columns that it has keep
    /// their places, and new ones come after them. Only where one is gone, or of another type, or
    /// the view is another role's, it is made anew, with what was granted on the old one and its
    /// comments; refused as where others depend on it if somebody's triggers or rules would go. Its
    /// options are said again in either case, because a replacement forgets them.
    static func point(_ name: String, to table: String) -> String {
        let view = ProjectionSchema.literal("projection." + name)
        return """
            DO $subledger$
            DECLARE
                columns text;
                options text;
                kept text[];
                statement text;
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
                IF EXISTS (\(ViewDependents.attached(to: view))) THEN
                    RAISE dependent_objects_still_exist;
                END IF;
                \(keep(view, name, table))
                DROP VIEW projection.\(name);
                EXECUTE 'CREATE VIEW projection.\(name)' || options
                    || \(ProjectionSchema.literal(" AS SELECT * FROM " + table));
                FOREACH statement IN ARRAY coalesce(kept, '{}') LOOP
                    EXECUTE statement;
                END LOOP;
            END
            $subledger$;
            GRANT SELECT ON projection.\(name) TO ledger_writer, ledger_reader
            """
    }

    // The statements that say of a new view what was said of the old one: grants and comments on
    // it, and on the columns that the new table has too. The owner grants all of them.
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
                UNION ALL
                SELECT CASE WHEN d.objsubid = 0
                    THEN format('COMMENT ON VIEW projection.\(name) IS %L', d.description)
                    ELSE format('COMMENT ON COLUMN projection.\(name).%I IS %L', o.attname,
                        d.description) END
                FROM pg_description d
                LEFT JOIN pg_attribute o ON o.attrelid = d.objoid AND o.attnum = d.objsubid
                WHERE d.objoid = \(view)::regclass AND d.classoid = 'pg_class'::regclass
                    AND (d.objsubid = 0 OR EXISTS (SELECT FROM pg_attribute n
                        WHERE n.attrelid = \(ProjectionSchema.literal(table))::regclass
                            AND n.attname = o.attname AND n.attnum > 0))
            ) said;
            """
    }
}
