-- Run after v024-consumer-stream.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT (SELECT attnotnull FROM pg_attribute
            WHERE attrelid = to_regclass('operation.consumer') AND attname = 'stream'),
        'a consumer must say what it reads';
END
$$;
