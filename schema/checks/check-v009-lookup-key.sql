-- Run after v009-lookup-key.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.lookup_key', 'INSERT'),
        'whoever appends must be able to add ids';
    ASSERT NOT has_table_privilege('ledger_writer', 'operation.lookup_key', 'UPDATE')
        AND NOT has_table_privilege('ledger_writer', 'operation.lookup_key', 'DELETE'),
        'no writer may remove ids: a look-up would miss subscriptions';
    ASSERT has_table_privilege('ledger_eraser', 'operation.lookup_key', 'DELETE'),
        'whoever erases must be able to remove ids';
    ASSERT has_table_privilege('ledger_reader', 'operation.lookup_key', 'SELECT'),
        'questions must be able to look ids up';
END
$$;
