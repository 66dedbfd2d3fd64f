-- Run after v016-apple-order.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT (SELECT count(*) = 4 FROM pg_attribute
        WHERE attrelid = 'operation.apple_order'::regclass AND attnum > 0 AND attnotnull),
        'operation.apple_order must have four columns, none of them NULL';
    ASSERT has_table_privilege('ledger_eraser', 'operation.apple_order', 'DELETE')
        AND NOT has_table_privilege('ledger_writer', 'operation.apple_order', 'DELETE'),
        'an erasure, and only an erasure, must be able to remove an order id';
END
$$;
