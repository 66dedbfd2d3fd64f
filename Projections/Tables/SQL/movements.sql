-- One row per business movement: a journal, by occurred_at; in movements_history by when each became
-- known. Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.{{table}} (
{{columns}},
    CONSTRAINT {{table}}_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT {{table}}_movement_known CHECK (
        movement IN (
            'offer_start', 'paid_start', 'offer_renewal', 'conversion', 'renewal', 'seats_added',
            'one_time_purchase', 'exit_plan_change', 'billing_issue_entered',
            'billing_issue_recovered', 'churn_voluntary', 'churn_involuntary',
            'churn_price_increase', 'churn_product_unavailable', 'churn_unknown', 'exit_refund',
            'family_revoke', 'assignment_ended', 'refund_reversed',
            'refund_requested', 'refund_declined', 'extension', 'auto_renew_off',
            'auto_renew_on', 'plan_change_scheduled', 'plan_change_cancelled'{{words}}
        )
    ),
    CONSTRAINT {{table}}_expiration_reason_known CHECK (
        expiration_reason IN
            ('customer', 'billing', 'price_increase', 'product_unavailable', 'unbundled', 'other')
    ),
{{constraints}}    CONSTRAINT {{table}}_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.{{table}} IS
    '{{comment}}';
