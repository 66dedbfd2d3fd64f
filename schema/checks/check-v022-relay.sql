-- Run after v022-relay.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.relay', 'DELETE')
        AND NOT has_table_privilege('ledger_reader', 'operation.relay', 'DELETE'),
        'a writer, and not a reader, must be able to remove what was forwarded';
END
$$;
