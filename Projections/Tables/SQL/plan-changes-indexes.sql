-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which support asks.

-- "Which changes took effect last month?"
CREATE INDEX plan_changes_by_effective
    ON {{schema}}.plan_changes (effective_at) WHERE effective_at IS NOT NULL;
