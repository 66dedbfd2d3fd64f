-- The columns of the table $1: name, type, and the type in SQL with its constraints.
SELECT a.attname::text, a.atttypid::bigint, format_type(a.atttypid, a.atttypmod)
    || coalesce(' COLLATE ' || quote_ident(c.collname), '')
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
FROM pg_attribute a
JOIN pg_class r ON r.oid = a.attrelid AND r.relkind IN ('r', 'p')
LEFT JOIN pg_collation c
    ON c.oid = a.attcollation AND c.collname <> 'default'
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
