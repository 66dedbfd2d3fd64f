-- Run after v006-rejection-arrival.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT (SELECT attnotnull AND NOT atthasdef FROM pg_attribute
            WHERE attrelid = 'ledger.rejection'::regclass AND attname = 'is_imported'),
        'every refusal must say how its payload arrived';
    ASSERT has_column_privilege('ledger_writer', 'ledger.rejection', 'is_imported', 'INSERT'),
        'the writer must be able to say it';
END
$$;
