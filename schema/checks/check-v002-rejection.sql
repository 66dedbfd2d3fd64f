-- Run after v002-rejection.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'ledger.rejection', 'INSERT'),
        'the writer must be able to keep rejections';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.rejection', 'DELETE'),
        'only the owner may delete rejections';
    -- tgtype: 8 delete, 16 update, 32 truncate.
    ASSERT (SELECT tgtype & 56 = 16 FROM pg_trigger
            WHERE tgrelid = 'ledger.rejection'::regclass AND tgname = 'append_only_statement'),
        'the trigger of ledger.rejection must refuse UPDATE and nothing else';
END
$$;
