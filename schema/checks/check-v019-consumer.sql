-- Run after v019-consumer.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.consumer', 'UPDATE')
        AND NOT has_table_privilege('ledger_reader', 'operation.consumer', 'UPDATE'),
        'a writer, and not a reader, must be able to move the place of a consumer';
END
$$;
