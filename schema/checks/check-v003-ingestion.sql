-- Run after v003-ingestion.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'ledger.ingestion', 'INSERT'),
        'the writer must be able to keep statistics';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.ingestion', 'UPDATE, DELETE'),
        'statistics are written once';
END
$$;
