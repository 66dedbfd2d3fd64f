-- Run after v023-alert.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.alert', 'UPDATE')
        AND NOT has_table_privilege('ledger_reader', 'operation.alert', 'UPDATE'),
        'a writer, and not a reader, must be able to end an alert';
END
$$;
