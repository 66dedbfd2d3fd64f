-- Run after v004-continuation.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT ledger.content_text('\x0101030161180431303030'::bytea, 24) = '1000',
        'the index must find the subscription that another one continues';
    ASSERT ledger.content_text('\x01010318616161616161616161616161616161616161616161616161'::bytea, 24)
        IS NULL, 'a length of 24 is not the tag 24';
END
$$;
