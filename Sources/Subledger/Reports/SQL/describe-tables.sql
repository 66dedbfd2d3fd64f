-- The views of schema analytics: their comments, and the names and types of their columns.
SELECT c.relname::text, coalesce(obj_description(c.oid, 'pg_class'), ''),
    array_agg(a.attname::text ORDER BY a.attnum),
    array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = 'analytics' AND c.relkind = 'v'
GROUP BY c.oid, c.relname
