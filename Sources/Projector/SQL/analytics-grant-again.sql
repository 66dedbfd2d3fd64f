-- Restores the privileges on views that had to be dropped, if these exist again.
DO $subledger$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY coalesce(string_to_array(
        nullif(current_setting('subledger.analytics_grants', true), ''), '; '), '{}')
    LOOP
        CONTINUE WHEN to_regclass(substring(statement FROM ' ON (\S+) TO ')) IS NULL;
        EXECUTE statement;
    END LOOP;
    PERFORM set_config('subledger.analytics_grants', '', true);
END
$subledger$
