-- One row per business movement: a journal, by occurred_at; in movements_history by when each became
-- known. Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.{{table}} (
    lane                        integer          NOT NULL,
    environment                 text COLLATE "C" NOT NULL,
    original_transaction_id     text COLLATE "C" NOT NULL,
    ordinal                     integer          NOT NULL,
    movement                    text COLLATE "C" NOT NULL,
    apple_event                 text COLLATE "C" NULL,
    apple_event_grouping        text COLLATE "C" NULL,
    apple_event_sub_type        text COLLATE "C" NULL,
    rc_event                    text COLLATE "C" NULL,
    occurred_at                 timestamptz      NOT NULL,
    product_identifier          text COLLATE "C" NOT NULL,
    previous_product_identifier text COLLATE "C" NULL,
    purchase_date_ms            bigint           NOT NULL,
    expires_date_ms             bigint           NULL,
    amount_milliunits           bigint           NULL,
    currency                    text COLLATE "C" NULL,
    is_family_shared            boolean          NOT NULL,
    is_resubscribe              boolean          NOT NULL,
    expiration_reason           text COLLATE "C" NULL,
    is_shared                   boolean          NOT NULL,
    seat_quantity               bigint           NULL,
{{knowledge}}    positions                   bigint[]         NOT NULL,
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
    CONSTRAINT {{table}}_has_cause CHECK (cardinality(positions) > 0)
);
