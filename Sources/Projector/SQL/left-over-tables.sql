-- Others may have schemas with such names; a comment marks those of rebuilds.
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname ~ '^projection_[0-9]{1,9}$' AND starts_with(obj_description(n.oid, 'pg_namespace'), '{{mark}}')
    AND NOT EXISTS (
    SELECT FROM projection.ledger_projection p
    WHERE p.build_schema = n.nspname AND p.name = c.relname) AND NOT EXISTS (
    SELECT FROM information_schema.view_table_usage u
    WHERE u.view_schema = 'projection' AND u.table_schema = n.nspname
        AND u.table_name = c.relname)
