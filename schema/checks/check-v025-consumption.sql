-- Run after v025-consumption.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.consumption', 'UPDATE')
        AND NOT has_table_privilege('ledger_writer', 'operation.consumption', 'DELETE'),
        'a writer must be able to record an answer to Apple, and not to remove one';
    ASSERT has_table_privilege('ledger_eraser', 'operation.consumption', 'DELETE'),
        'an erasure must be able to remove what was sent about a person';
END
$$;
