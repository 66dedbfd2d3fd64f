-- One row per change from one product, billing plan or number of seats to another: requested, withdrawn, effective, or lapsed.
-- Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.plan_changes (
{{columns}},
    CONSTRAINT plan_changes_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT plan_changes_state_known
        CHECK (plan_change_state IN ('requested', 'effective', 'withdrawn', 'lapsed')),
    CONSTRAINT plan_changes_timing_known CHECK (plan_change_timing IN ('now', 'next_renewal', 'resubscribe')),
    CONSTRAINT plan_changes_class_known
        CHECK (plan_change IN ('upgrade', 'downgrade', 'crossgrade', 'plan_change')),
    CONSTRAINT plan_changes_dated CHECK (requested_at IS NOT NULL OR effective_at IS NOT NULL),
    CONSTRAINT plan_changes_effective_where_effective
        CHECK ((effective_at IS NOT NULL) = (plan_change_state = 'effective')),
    CONSTRAINT plan_changes_withdrawn_where_withdrawn
        CHECK ((withdrawn_at IS NOT NULL) = (plan_change_state = 'withdrawn')),
    CONSTRAINT plan_changes_between_two_plans
        CHECK (previous_product_identifier <> product_identifier
            OR previous_billing_plan_type <> billing_plan_type
            OR previous_seat_quantity <> seat_quantity),
    CONSTRAINT plan_changes_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.plan_changes IS
    'Changes of product, billing plan or number of seats, requested and effective: one row per change. In the order of requested_at, else effective_at, then the products. A fold of the log; rebuild it, never edit it.';
