-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- Reports go by the month of purchase, as known at an instant.
CREATE INDEX transactions_history_by_start
    ON {{schema}}.transactions_history (start_time);
