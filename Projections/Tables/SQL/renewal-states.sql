-- One row for each longest stretch in which nothing of a subscription's state changed. Rows of a
-- subscription never overlap. Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.renewal_states (
{{columns}},
    CONSTRAINT renewal_states_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT renewal_states_end_after_start CHECK (valid_from < valid_to),
    CONSTRAINT renewal_states_status_known
        CHECK (status IN ('active', 'grace_period', 'billing_retry', 'expired', 'revoked')),
    CONSTRAINT renewal_states_charge_known
        CHECK (charge IN ('waiting', 'succeeded', 'failed', 'closed')),
    CONSTRAINT renewal_states_price_consent_known
        CHECK (price_consent IN ('pending', 'accepted')),
    CONSTRAINT renewal_states_expiration_reason_known CHECK (
        expiration_reason IN
            ('customer', 'billing', 'price_increase', 'product_unavailable', 'unbundled', 'other')
    ),
    CONSTRAINT renewal_states_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.renewal_states IS
    'The states of a subscription, and whether it was set to renew, as intervals. In the order of valid_from. A fold of the log; rebuild it, never edit it.';
