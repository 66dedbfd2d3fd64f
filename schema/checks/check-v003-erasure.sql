-- Run after v003-erasure.sql, in the same transaction: what it must have brought about.
DO $$
DECLARE
    broken text;
BEGIN
    SELECT string_agg(t.name, ', ') INTO broken
    FROM unnest(ARRAY['event', 'confirmation', 'evidence']) AS t (name)
    WHERE NOT EXISTS (
        SELECT FROM pg_trigger g
        WHERE g.tgrelid = ('ledger.' || t.name)::regclass AND g.tgname = 'append_only_row'
            AND g.tgenabled = 'A')
        OR NOT EXISTS (
        SELECT FROM pg_trigger g
        WHERE g.tgrelid = ('ledger.' || t.name)::regclass AND g.tgname = 'append_only_insert'
            AND g.tgenabled = 'A');
    ASSERT broken IS NULL, 'tables without the triggers that judge blank rows: ' || broken;
    ASSERT has_function_privilege('ledger_eraser', 'ledger.erase(int, bigint, bigint[], bytea[],
        bytea[], uuid[], bigint[], bigint[], bytea[], bigint[])', 'EXECUTE'),
        'the eraser must be able to erase';
    ASSERT NOT has_function_privilege('ledger_writer', 'ledger.erase(int, bigint, bigint[], bytea[],
        bytea[], uuid[], bigint[], bigint[], bytea[], bigint[])', 'EXECUTE'),
        'nobody but the eraser may erase';
END
$$;
