-- Built after loading, which is faster than keeping them up to date row by row.

-- Support asks by id alone, without knowing lane or environment.
CREATE INDEX refunds_by_original_transaction_id
    ON {{schema}}.refunds (original_transaction_id);

-- "What was given back last month?"
CREATE INDEX refunds_by_revoked
    ON {{schema}}.refunds (revoked_ms) WHERE revoked_ms IS NOT NULL;
