-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- Reports add up a span of time, as known at an instant.
CREATE INDEX movements_history_by_occurred
    ON {{schema}}.movements_history (occurred_at, known_from);
