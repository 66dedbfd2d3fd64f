-- The columns of a view, with their types and the comment of the view.
SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),
    coalesce(obj_description(a.attrelid, 'pg_class'), '')
FROM pg_attribute a
WHERE a.attrelid = '{{view}}'::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
