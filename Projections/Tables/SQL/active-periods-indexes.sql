-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- "Who had access at T?" and "whose access ends next?" both start from the end.
CREATE INDEX active_periods_by_valid_to
    ON {{schema}}.active_periods (valid_to);
