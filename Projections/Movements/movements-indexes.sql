-- Built after loading, which is faster than keeping them up to date row by row.

-- Support asks by id alone, without knowing lane or environment.
CREATE INDEX movements_by_original_transaction_id
    ON {{schema}}.movements (original_transaction_id);

-- Reports add up one movement over a span of time.
CREATE INDEX movements_by_occurred
    ON {{schema}}.movements (occurred_ms, movement);
