-- Run after v018-proceeds-rate.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.proceeds_rate', 'INSERT'),
        'the writer must be able to import rates';
    ASSERT NOT has_table_privilege('ledger_writer', 'operation.proceeds_rate', 'UPDATE, DELETE'),
        'a rate that was imported must not be changed';
    -- tgtype: 8 delete, 16 update, 32 truncate.
    ASSERT (SELECT tgtype & 56 = 56 FROM pg_trigger
            WHERE tgrelid = 'operation.proceeds_rate'::regclass
                AND tgname = 'append_only_statement'),
        'the trigger of operation.proceeds_rate must refuse every change';
END
$$;
