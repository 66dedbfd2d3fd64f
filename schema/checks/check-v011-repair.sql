DO $$
BEGIN
    ASSERT (SELECT count(*) = 7 FROM pg_attribute
        WHERE attrelid = 'ledger.repair'::regclass AND attnum > 0 AND attnotnull),
        'ledger.repair must have seven columns, none of them NULL';
    ASSERT NOT has_table_privilege('ledger_writer', 'ledger.repair', 'INSERT'),
        'ledger_writer must not insert into ledger.repair';
END
$$;
