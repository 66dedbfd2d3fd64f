-- Run after v014-audit.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.audit', 'INSERT'),
        'the service must be able to record who asked';
    ASSERT NOT has_table_privilege('ledger_writer', 'operation.audit', 'UPDATE')
        AND NOT has_table_privilege('ledger_writer', 'operation.audit', 'DELETE'),
        'who asked must not be able to remove the record of it';
END
$$;
