-- Run after v005-rejection.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'ledger.rejection_taken', 'INSERT'),
        'the writer must be able to mark a rejection as taken in';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.rejection_taken', 'UPDATE, DELETE'),
        'only the owner may delete such marks';
    -- tgtype: 8 delete, 16 update, 32 truncate.
    ASSERT (SELECT tgtype & 56 = 16 FROM pg_trigger
            WHERE tgrelid = 'ledger.rejection_taken'::regclass
                AND tgname = 'append_only_statement'),
        'the trigger of ledger.rejection_taken must refuse UPDATE and nothing else';
END
$$;
