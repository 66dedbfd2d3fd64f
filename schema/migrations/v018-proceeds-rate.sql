-- What Apple keeps of a price and what of it is tax, as the operator states it: estimates of proceeds
-- with dated rates use nothing else. As with exchange rates, a correction is a further row, so that a
-- report as known at an earlier time uses the rates of that time.
CREATE TABLE operation.proceeds_rate (
    storefront                    text COLLATE "C" NOT NULL,
    day                           date             NOT NULL,
    revision                      int              NOT NULL,
    commission_percent            numeric(14, 12)  NOT NULL,
    commission_after_year_percent numeric(14, 12)  NOT NULL,
    tax_percent                   numeric(14, 12)  NOT NULL,
    recorded_at                   timestamptz      NOT NULL,
    CONSTRAINT proceeds_rate_pkey PRIMARY KEY (storefront, day, revision),
    CONSTRAINT proceeds_rate_storefront_is_iso_3166 CHECK (storefront ~ '^([A-Z]{3}|[*])$'),
    CONSTRAINT proceeds_rate_day_has_four_digits
        CHECK (day BETWEEN '0001-01-01'::date AND '9999-12-31'::date),
    CONSTRAINT proceeds_rate_revision_counts_from_one CHECK (revision >= 1),
    -- A number that is none is greater than every number.
    CONSTRAINT proceeds_rate_leaves_something CHECK (
        commission_percent >= 0 AND commission_percent < 100
        AND commission_after_year_percent >= 0 AND commission_after_year_percent < 100
        AND tax_percent >= 0 AND tax_percent < 100)
);
COMMENT ON TABLE operation.proceeds_rate IS
    'Rates of commission and tax that the operator imported: one row a storefront, day and revision. Append-only; of several revisions the last one that was recorded by then holds.';
COMMENT ON COLUMN operation.proceeds_rate.storefront IS 'Country of the storefront, ISO 3166-1 alpha-3; * for all storefronts without a rate of their own.';
COMMENT ON COLUMN operation.proceeds_rate.day IS 'The first day, UTC, for whose purchases it holds: until the next day that has one.';
COMMENT ON COLUMN operation.proceeds_rate.revision IS 'Counts up, from 1, when another rate is imported for the same day.';
COMMENT ON COLUMN operation.proceeds_rate.commission_percent IS 'What Apple keeps of the price without tax, in percent.';
COMMENT ON COLUMN operation.proceeds_rate.commission_after_year_percent IS 'The same for a subscription after a year of paid service.';
COMMENT ON COLUMN operation.proceeds_rate.tax_percent IS 'The share of the price that is tax, in percent.';
COMMENT ON COLUMN operation.proceeds_rate.recorded_at IS 'Our clock: when it was imported; whole milliseconds.';
