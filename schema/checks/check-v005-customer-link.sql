-- Run after v005-customer-link.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT (SELECT count(*) = 2 FROM pg_constraint
            WHERE conrelid = 'ledger.event'::regclass AND convalidated
              AND conname IN ('event_kind_known', 'event_customer_of_links_only')),
        'the constraints on links must hold for every event';
    ASSERT (SELECT indisvalid FROM pg_index
            WHERE indexrelid = 'ledger.event_customer_id'::regclass),
        'customers must be found by an index';
    ASSERT (SELECT attcollation = 'pg_catalog."C"'::regcollation FROM pg_attribute
            WHERE attrelid = 'ledger.event'::regclass AND attname = 'customer_id'),
        'customers are compared by bytes';
END
$$;
