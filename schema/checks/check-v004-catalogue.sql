-- Run after v004-catalogue.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'ledger.catalogue', 'INSERT'),
        'the writer must be able to add versions';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.catalogue', 'UPDATE, DELETE'),
        'versions are written once';
END
$$;
