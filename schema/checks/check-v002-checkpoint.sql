-- Run after v002-checkpoint.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'ledger.checkpoint', 'INSERT'),
        'the writer must be able to keep checkpoints';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.checkpoint', 'UPDATE, DELETE'),
        'the writer must not change checkpoints';
    ASSERT has_table_privilege('ledger_reader', 'ledger.checkpoint', 'SELECT'),
        'the reader must be able to compare checkpoints';
    -- tgtype: 8 delete, 16 update, 32 truncate.
    ASSERT (SELECT tgtype & 56 = 56 FROM pg_trigger
            WHERE tgrelid = 'ledger.checkpoint'::regclass AND tgname = 'append_only_statement'),
        'the trigger of ledger.checkpoint must refuse UPDATE, DELETE and TRUNCATE';
END
$$;
