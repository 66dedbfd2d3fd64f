-- Others may have schemas with such names; a comment marks those of rebuilds.
SELECT build_schema, true FROM projection.ledger_projection
GROUP BY build_schema HAVING bool_and({{filling}})
UNION ALL
SELECT nspname, false FROM pg_namespace
WHERE nspname ~ '^projection_[0-9]{1,9}$' AND starts_with(obj_description(pg_namespace.oid, 'pg_namespace'), '{{mark}}')
    AND nspname NOT IN (SELECT build_schema FROM projection.ledger_projection)
    AND nspname NOT IN (SELECT table_schema FROM information_schema.view_table_usage
    WHERE view_schema = 'projection')
