-- Built after loading, which is faster than keeping them up to date row by row.

-- Support asks by id alone, without knowing lane or environment.
CREATE INDEX active_periods_by_original_transaction_id
    ON {{schema}}.active_periods (original_transaction_id);

-- "Who had access at T?" and "whose access ends next?" both start from the end.
CREATE INDEX active_periods_by_valid_to
    ON {{schema}}.active_periods (valid_to_ms);
