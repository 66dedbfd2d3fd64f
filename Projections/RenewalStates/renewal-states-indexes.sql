-- Built after loading, which is faster than keeping them up to date row by row.

-- Support asks by id alone, without knowing lane or environment.
CREATE INDEX renewal_states_by_original_transaction_id
    ON {{schema}}.renewal_states (original_transaction_id);

-- "Who is in which state at T?" reads the open rows, and those that end after T.
CREATE INDEX renewal_states_by_status
    ON {{schema}}.renewal_states (status, valid_to_ms);
