-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- Reports add up one movement over a span of time.
CREATE INDEX movements_by_occurred
    ON {{schema}}.movements (occurred_at, movement);
