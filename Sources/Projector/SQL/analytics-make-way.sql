PERFORM set_config('subledger.analytics_grants', concat_ws('; ',
    nullif(current_setting('subledger.analytics_grants', true), ''), string_agg(format(
        'GRANT %s ON analytics.%I TO %s%s', a.privilege_type, c.relname,
        CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
        CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), '; ')), true)
FROM pg_class c, aclexplode(c.relacl) a
WHERE c.oid IN ({{views}}) AND a.grantee <> c.relowner;
FOR statement IN
    SELECT 'DROP VIEW ' || string_agg(v.oid::regclass::text, ', ')
    FROM ({{views}}) v HAVING count(*) > 0
    UNION ALL SELECT 'DROP FUNCTION ' || string_agg(f.oid::regprocedure::text, ', ')
    FROM ({{functions}}) f HAVING count(*) > 0
LOOP
    EXECUTE statement;
END LOOP;
