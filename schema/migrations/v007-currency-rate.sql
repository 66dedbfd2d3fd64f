-- What amounts of other currencies are worth, as the operator says it; reports convert by nothing
-- else. A correction is a further row, so that a report as known at an earlier time uses the rates of
-- that time.
CREATE TABLE operation.currency_rate (
    base_currency text COLLATE "C" NOT NULL,
    currency      text COLLATE "C" NOT NULL,
    day           date             NOT NULL,
    revision      int              NOT NULL,
    rate          numeric(20, 12)  NOT NULL,
    recorded_at   timestamptz      NOT NULL,
    CONSTRAINT currency_rate_pkey PRIMARY KEY (base_currency, currency, day, revision),
    CONSTRAINT currency_rate_currency_is_iso_4217
        CHECK (base_currency ~ '^[A-Z]{3}$' AND currency ~ '^[A-Z]{3}$'),
    CONSTRAINT currency_rate_is_of_two CHECK (base_currency <> currency),
    CONSTRAINT currency_rate_revision_counts_from_one CHECK (revision >= 1),
    CONSTRAINT currency_rate_is_positive CHECK (rate > 0)
);
COMMENT ON TABLE operation.currency_rate IS
    'Exchange rates that the operator imported: one row a pair of currencies, day and revision. Append-only; of several revisions the last one that was recorded by then holds.';
COMMENT ON COLUMN operation.currency_rate.base_currency IS 'ISO 4217 code of the currency that amounts are converted into.';
COMMENT ON COLUMN operation.currency_rate.currency IS 'ISO 4217 code of the currency that is converted.';
COMMENT ON COLUMN operation.currency_rate.day IS 'The first day, UTC, for which the rate holds: until the next day that has one, and no longer than a report allows.';
COMMENT ON COLUMN operation.currency_rate.revision IS 'Counts up, from 1, when another rate is imported for the same day.';
COMMENT ON COLUMN operation.currency_rate.rate IS 'Units of base_currency for one unit of currency.';
COMMENT ON COLUMN operation.currency_rate.recorded_at IS 'Our clock: when it was imported; whole milliseconds.';
