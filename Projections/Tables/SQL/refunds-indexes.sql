-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- "What was given back last month?"
CREATE INDEX refunds_by_revoked
    ON {{schema}}.refunds (revoked_at) WHERE revoked_at IS NOT NULL;
