-- Run after v001-event-log.sql, in the same transaction: what it must have brought about.
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
END
$$;
