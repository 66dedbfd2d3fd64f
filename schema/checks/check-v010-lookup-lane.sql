-- Run after v010-lookup-lane.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.lookup_lane', 'UPDATE'),
        'whoever appends must be able to announce commits';
    ASSERT NOT has_table_privilege('ledger_writer', 'operation.lookup_lane', 'INSERT')
        AND NOT has_table_privilege('ledger_writer', 'operation.lookup_lane', 'DELETE'),
        'only migrate decides which lanes are looked up here';
    ASSERT has_table_privilege('ledger_reader', 'operation.lookup_lane', 'SELECT'),
        'questions must be able to see which lanes are complete';
END
$$;
