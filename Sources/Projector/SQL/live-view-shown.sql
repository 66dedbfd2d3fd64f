-- Whether the view of the name $2 shows all columns of the table in schema $1 under their names, and
-- nothing else. Before version 16, PostgreSQL writes the table's name before each column.
SELECT EXISTS (
    SELECT FROM pg_class v JOIN pg_attribute s ON s.attrelid = v.oid AND s.attnum > 0
    WHERE v.oid = to_regclass(format('projection.%I', $2::text)) AND v.relkind = 'v'
    GROUP BY v.oid
    HAVING regexp_replace(
            replace(pg_get_viewdef(v.oid), quote_ident($2) || '.', ''), '\s', '', 'g')
        = regexp_replace(format('SELECT %s FROM %I.%I;',
            string_agg(quote_ident(s.attname), ',' ORDER BY s.attnum), $1::text, $2),
            '\s', '', 'g')
    AND count(*) = (SELECT count(*) FROM pg_attribute a
        WHERE a.attrelid = to_regclass(format('%I.%I', $1, $2))
            AND a.attnum > 0 AND NOT a.attisdropped)
)
