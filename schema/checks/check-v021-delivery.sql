-- Run after v021-delivery.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.delivery', 'DELETE')
        AND NOT has_table_privilege('ledger_reader', 'operation.delivery', 'DELETE'),
        'a writer, and not a reader, must be able to remove what was delivered';
END
$$;
