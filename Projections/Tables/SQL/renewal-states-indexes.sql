-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- "Who is in which state at T?" reads the open rows, and those that end after T.
CREATE INDEX renewal_states_by_status
    ON {{schema}}.renewal_states (status, valid_to);
