-- Run after v001-ledger.sql, in the same transaction: what it must have brought about.
DO $$
DECLARE
    broken text;
BEGIN
    SELECT string_agg(c.relname, ', ') INTO broken
    FROM pg_class c
    WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p');
    ASSERT broken IS NULL, 'tables without a primary key: ' || broken;

    SELECT string_agg(c.relname, ', ') INTO broken
    FROM pg_class c
    WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'append_only_statement');
    ASSERT broken IS NULL, 'tables without the append-only trigger: ' || broken;

    ASSERT (SELECT count(*) FROM ledger.lane) = (SELECT lanes FROM ledger.ledger_config),
        'one row a lane is expected';
    ASSERT ledger.lane_of('2000000847061981') < (SELECT lanes FROM ledger.ledger_config),
        'lane_of is made for another number of lanes';

    ASSERT has_table_privilege('ledger_writer', 'ledger.rejection', 'INSERT'),
        'the writer must be able to keep rejections';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.rejection', 'DELETE'),
        'only the owner may delete rejections';
    -- tgtype: 8 delete, 16 update, 32 truncate.
    ASSERT (SELECT tgtype & 56 = 16 FROM pg_trigger
            WHERE tgrelid = 'ledger.rejection'::regclass AND tgname = 'append_only_statement'),
        'the trigger of ledger.rejection must refuse UPDATE and nothing else';

    SELECT string_agg(t.name, ', ') INTO broken
    FROM unnest(ARRAY['event', 'confirmation', 'evidence', 'root_certificate',
        'evidence_segment', 'commit', 'ingestion', 'catalog']) AS t (name)
    WHERE NOT has_table_privilege('ledger_writer', 'ledger.' || t.name, 'INSERT')
        OR has_table_privilege('ledger_writer', 'ledger.' || t.name, 'UPDATE, DELETE');
    ASSERT broken IS NULL, 'tables that the writer must insert into and not change: ' || broken;
    ASSERT (SELECT bool_and(attcollation = 'pg_catalog."C"'::regcollation) FROM pg_attribute
            WHERE attrelid = 'ledger.event'::regclass AND atttypid = 'text'::regtype),
        'texts of the log are compared by bytes';
END
$$;
