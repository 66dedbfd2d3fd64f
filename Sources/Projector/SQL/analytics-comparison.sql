-- The views and functions whose definitions differ from those of temporary ones.
--
-- Only the names of ours lose their schema: an object of someone else in schema analytics must not
-- pass for one of the server.
SELECT DISTINCT n.name
FROM unnest($1::text[]) AS n (name)
LEFT JOIN pg_class v ON v.relnamespace = to_regnamespace('analytics')::oid
    AND v.relname = n.name AND v.relkind = 'v'
LEFT JOIN pg_class w ON w.relnamespace = pg_my_temp_schema() AND w.relname = n.name
    AND w.relkind = 'v'
LEFT JOIN pg_proc f ON f.pronamespace = to_regnamespace('analytics')::oid
    AND f.proname = n.name
LEFT JOIN pg_proc g ON g.pronamespace = pg_my_temp_schema() AND g.proname = n.name
WHERE w.oid IS NOT NULL AND (
        v.oid IS NULL OR v.reloptions IS DISTINCT FROM w.reloptions
        OR regexp_replace(pg_get_viewdef(v.oid), $2, '\3', 'g') <> ALL (
            SELECT regexp_replace(p.print, $2, '\3', 'g')
            FROM unnest($3::text[], $4::text[]) p (name, print) WHERE p.name = n.name))
    OR g.oid IS NOT NULL AND (
        f.oid IS NULL OR f.proconfig IS DISTINCT FROM g.proconfig
        OR (f.prosecdef, f.provolatile, f.prolang, f.prorettype, f.proisstrict)
            <> (g.prosecdef, g.provolatile, g.prolang, g.prorettype, g.proisstrict)
        OR pg_get_function_arguments(f.oid) <> pg_get_function_arguments(g.oid)
        OR regexp_replace(f.prosrc, $2, '\3', 'g')
            <> regexp_replace(g.prosrc, $2, '\3', 'g'))
ORDER BY 1
