-- Run after v017-bounded-values.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT (SELECT count(*) = 4 FROM pg_constraint
        WHERE contype = 'c' AND convalidated AND (
            conrelid = 'operation.currency_rate'::regclass
                AND conname IN ('currency_rate_is_a_number', 'currency_rate_day_has_four_digits')
            OR conrelid = 'ledger.ingestion'::regclass
                AND conname IN ('ingestion_counts_below_a_trillion', 'ingestion_reasons_are_counts'))),
        'rates and counts must be bounded';
END
$$;
