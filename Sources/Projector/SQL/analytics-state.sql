-- Whether the schema is ours, its comment, the live views, and its content.
SELECT a.nspowner = 'ledger_projector'::regrole, obj_description(a.oid, 'pg_namespace'),
    ARRAY(SELECT relname::text FROM pg_class
        WHERE relnamespace = to_regnamespace('projection') AND relkind = 'v'),
    ARRAY(SELECT relname::text FROM pg_class WHERE oid IN ({{views}})
        UNION ALL SELECT proname::text FROM pg_proc WHERE oid IN ({{functions}}))
FROM pg_namespace a WHERE a.nspname = 'analytics'
