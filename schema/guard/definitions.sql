-- How the columns and CHECK constraints of the tables $1 differ from $2, each as pg_dump prints it
-- (snapshot.sql), with the statement that mends a constraint. Tables that are missing are reported by
-- differences.sql; like it, this reads catalogs only.
WITH wanted AS (
    SELECT c.oid, w.relname, regexp_replace(w.line, '\(\((\([^()]*\)) AND (\([^()]*\))\) AND ',
        '(\1 AND \2 AND ', 'g') AS line
    FROM unnest($1::text[], $2::text[]) w (relname, line)
    JOIN pg_namespace n ON n.nspname = split_part(w.relname, '.', 1)
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = split_part(w.relname, '.', 2)),
relation AS (SELECT DISTINCT oid, relname FROM wanted),
stored AS (
    SELECT r.oid, r.relname, format('%I %s%s%s%s', a.attname,
        format_type(a.atttypid, a.atttypmod), ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
        CASE WHEN a.attnotnull THEN ' NOT NULL' END,
        CASE WHEN l.oid <> t.typcollation THEN format(' COLLATE pg_catalog.%I', l.collname) END) AS line
    FROM relation r
    JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum
    UNION ALL
    -- One that was mended does not say that older rows keep it; `verify` does. Once it was dumped and
    -- restored, (a AND b) AND c is printed as a AND b AND c.
    SELECT r.oid, r.relname, format('CONSTRAINT %I %s', k.conname, regexp_replace(
        replace(pg_get_constraintdef(k.oid), ' NOT VALID', ''),
        '\(\((\([^()]*\)) AND (\([^()]*\))\) AND ', '(\1 AND \2 AND ', 'g'))
    FROM relation r JOIN pg_constraint k ON k.conrelid = r.oid AND k.contype = 'c'),
difference AS (
    SELECT relname, line, NULL AS extra FROM (
        SELECT oid, relname, line FROM wanted EXCEPT SELECT oid, relname, line FROM stored) w
    UNION ALL
    SELECT relname, NULL, line FROM (
        SELECT oid, relname, line FROM stored EXCEPT SELECT oid, relname, line FROM wanted) s),
named AS (
    SELECT *, coalesce(line, extra) LIKE 'CONSTRAINT %' AS is_constraint,
        split_part(regexp_replace(coalesce(line, extra), '^CONSTRAINT ', ''), ' ', 1) AS name
    FROM difference)
SELECT format('%s %s of %s', CASE WHEN is_constraint THEN 'constraint' ELSE 'column' END, name,
        relname),
    CASE WHEN is_constraint THEN
        format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s', relname, name)
        || coalesce('; ALTER TABLE ' || relname || ' ADD ' || max(line) || ' NOT VALID', '') END
FROM named GROUP BY is_constraint, name, relname ORDER BY 1
