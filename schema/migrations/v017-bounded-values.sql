-- Values that only a forged row can have, and that ended or held up whoever read them: a rate that is
-- no number or never begins, counts whose sum has no type.
ALTER TABLE operation.currency_rate
    ADD CONSTRAINT currency_rate_is_a_number CHECK (rate <> 'NaN'::numeric),
    ADD CONSTRAINT currency_rate_day_has_four_digits
        CHECK (day BETWEEN '0001-01-01'::date AND '9999-12-31'::date);
ALTER TABLE ledger.ingestion
    ADD CONSTRAINT ingestion_counts_below_a_trillion CHECK (
        payloads < 1000000000000 AND appended < 1000000000000 AND duplicates < 1000000000000
        AND streams < 1000000000000),
    ADD CONSTRAINT ingestion_reasons_are_counts CHECK (
        jsonb_typeof(rejected_by_reason) = 'object' AND NOT jsonb_path_exists(rejected_by_reason,
            '$.* ? (@.type() != "number" || @ < 0 || @ >= 1000000000000)'));
