DO $subledger$
DECLARE
    columns text;
    options text;
    kept text[];
    own text[];
    lost text;
    statement text;
BEGIN
    -- Comments on the view that differ from those of its table: an operator wrote them.
    SELECT array_agg(
        CASE WHEN d.objsubid = 0
            THEN format('COMMENT ON VIEW projection.{{name}} IS %L', d.description)
            ELSE format('COMMENT ON COLUMN projection.{{name}}.%I IS %L', o.attname, d.description)
        END
    ) INTO own
    FROM pg_description d
    LEFT JOIN pg_attribute o ON o.attrelid = d.objoid AND o.attnum = d.objsubid
    WHERE d.objoid = to_regclass({{view}}) AND d.classoid = 'pg_class'::regclass
        AND (d.objsubid = 0 OR EXISTS (SELECT FROM pg_attribute n
            WHERE n.attrelid = {{table}}::regclass
                AND n.attname = o.attname AND n.attnum > 0))
        AND NOT EXISTS (
            SELECT FROM pg_rewrite r
            JOIN pg_depend p ON p.classid = 'pg_rewrite'::regclass AND p.objid = r.oid
                AND p.refclassid = 'pg_class'::regclass AND p.refobjid <> r.ev_class
            JOIN pg_description s ON s.objoid = p.refobjid AND s.classoid = p.refclassid
                AND s.description = d.description
            LEFT JOIN pg_attribute c ON c.attrelid = s.objoid AND c.attnum = s.objsubid
            WHERE r.ev_class = d.objoid AND c.attname IS NOT DISTINCT FROM o.attname);
    BEGIN
        SELECT coalesce(' WITH (' || string_agg(
            quote_ident(option_name) || '=' || quote_literal(option_value), ', ') || ')', '')
        INTO options
        FROM pg_class, pg_options_to_table(reloptions) WHERE oid = to_regclass({{view}});
        SELECT string_agg(quote_ident(n.attname), ', ' ORDER BY o.attnum, n.attnum)
        INTO columns
        FROM pg_attribute n LEFT JOIN pg_attribute o
            ON o.attrelid = to_regclass({{view}}) AND o.attname = n.attname
                AND o.attnum > 0 AND NOT o.attisdropped
        WHERE n.attrelid = {{table}}::regclass
            AND n.attnum > 0 AND NOT n.attisdropped;
        EXECUTE 'CREATE OR REPLACE VIEW projection.{{name}}' || options || ' AS SELECT '
            || columns || {{from}};
    EXCEPTION WHEN invalid_table_definition OR insufficient_privilege THEN
        SELECT string_agg(pg_describe_object(catalog, oid, 0), ', ') INTO lost FROM (
            SELECT 'pg_trigger'::regclass AS catalog, oid FROM pg_trigger
            WHERE tgrelid = {{view}}::regclass AND NOT tgisinternal
            UNION ALL SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite
            WHERE ev_class = {{view}}::regclass AND rulename <> '_RETURN') AS part;
        IF lost IS NOT NULL THEN
            RAISE dependent_objects_still_exist USING MESSAGE =
                'cannot drop view projection.{{name}} without losing ' || lost;
        END IF;
        {{make_way}}
        -- The statements that grant on a new view what was granted on the old one, and on those of
        -- its columns that the new table has too. The owner makes all grants.
        SELECT array_agg(said.statement) INTO kept FROM (
            SELECT format('GRANT %s ON projection.{{name}} TO %s%s', a.privilege_type,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS statement
            FROM pg_class c, aclexplode(c.relacl) a
            WHERE c.oid = {{view}}::regclass AND a.grantee <> c.relowner
            UNION ALL
            SELECT format('GRANT %s (%I) ON projection.{{name}} TO %s%s', a.privilege_type,
                o.attname,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
            FROM pg_attribute o JOIN pg_attribute n
                ON n.attrelid = {{table}}::regclass
                    AND n.attname = o.attname AND n.attnum > 0,
                aclexplode(o.attacl) a
            WHERE o.attrelid = {{view}}::regclass AND NOT o.attisdropped
        ) said;
        DROP VIEW projection.{{name}};
        EXECUTE 'CREATE VIEW projection.{{name}}' || options
            || {{selection}};
        FOREACH statement IN ARRAY coalesce(kept, '{}') LOOP
            EXECUTE statement;
        END LOOP;
    END;
    -- The comments of the table, then those of an operator.
    FOREACH statement IN ARRAY (SELECT coalesce(array_agg(
        CASE WHEN d.objsubid = 0
            THEN format('COMMENT ON VIEW projection.{{name}} IS %L', d.description)
            ELSE format('COMMENT ON COLUMN projection.{{name}}.%I IS %L', o.attname, d.description)
        END
    ), '{}')
        FROM pg_description d
        LEFT JOIN pg_attribute o ON o.attrelid = d.objoid AND o.attnum = d.objsubid
        WHERE d.objoid = {{table}}::regclass
            AND d.classoid = 'pg_class'::regclass) || coalesce(own, '{}')
    LOOP
        EXECUTE statement;
    END LOOP;
END
$subledger$;
GRANT SELECT ON projection.{{name}} TO ledger_writer, ledger_reader
