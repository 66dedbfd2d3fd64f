-- Run after v012-rejection-standing.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT (SELECT attnotnull AND NOT atthasdef FROM pg_attribute
            WHERE attrelid = 'ledger.rejection'::regclass AND attname = 'standing'),
        'every refusal must say its standing';
    ASSERT has_column_privilege('ledger_writer', 'ledger.rejection', 'standing', 'INSERT'),
        'the writer must be able to say it';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.rejection', 'DELETE'),
        'only the owner may delete rejections of any standing';
END
$$;
