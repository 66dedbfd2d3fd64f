-- Built after loading, which is faster than keeping them up to date row by row.

-- Support asks by id alone, without knowing lane or environment.
CREATE INDEX plan_changes_by_original_transaction_id
    ON {{schema}}.plan_changes (original_transaction_id);

-- "Which changes took effect last month?"
CREATE INDEX plan_changes_by_effective
    ON {{schema}}.plan_changes (effective_ms) WHERE effective_ms IS NOT NULL;
