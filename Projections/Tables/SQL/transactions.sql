-- One row per purchase, including one-time purchases, in the words of RevenueCat's data exports
-- where the meaning is theirs; in transactions_history one row per state of each. Rebuilt from the
-- log at any time, and never edited by hand.
CREATE TABLE {{schema}}.{{table}} (
{{columns}},
    CONSTRAINT {{table}}_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT {{table}}_ends_after_start CHECK (effective_end_time >= start_time),
    CONSTRAINT {{table}}_plan_change_known
        CHECK (plan_change IN ('upgrade', 'downgrade', 'crossgrade', 'plan_change')),
    CONSTRAINT {{table}}_change_has_previous
        CHECK ((plan_change IS NOT NULL) = (previous_product_identifier IS NOT NULL)),
    CONSTRAINT {{table}}_counts_from_one
        CHECK (renewal_number >= 1 AND consecutive_paid_periods >= 0),
    CONSTRAINT {{table}}_gap_where_resubscribed CHECK (gap_seconds IS NULL OR is_resubscribe),
{{constraints}}    CONSTRAINT {{table}}_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.{{table}} IS
    '{{comment}}';
