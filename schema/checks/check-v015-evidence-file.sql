-- Run after v015-evidence-file.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT (SELECT count(*) = 5 FROM pg_attribute
        WHERE attrelid = 'ledger.evidence_file'::regclass AND attnum > 0 AND attnotnull),
        'ledger.evidence_file must have five columns, none of them NULL';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.evidence_file', 'INSERT')
        AND NOT has_table_privilege('ledger_eraser', 'ledger.evidence_file', 'INSERT'),
        'only the owner may say that payloads were moved';
END
$$;
