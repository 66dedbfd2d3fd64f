-- Run after v008-newest-signature.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_projector', 'operation.newest_signature', 'INSERT')
        AND has_table_privilege('ledger_projector', 'operation.newest_signature', 'UPDATE')
        AND has_table_privilege('ledger_projector', 'operation.newest_signature', 'DELETE'),
        'whoever follows must be able to bring the newest signature on';
    ASSERT has_table_privilege('ledger_reader', 'operation.newest_signature', 'SELECT'),
        'reports must be able to read the newest signature';
    ASSERT NOT has_table_privilege('ledger_writer', 'operation.newest_signature', 'INSERT, UPDATE, DELETE'),
        'no writer of the log may change the newest signature';
END
$$;
