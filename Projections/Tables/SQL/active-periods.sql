-- One row per purchase and per billing grace: when a subscription gave access, and why it stopped.
-- Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.active_periods (
{{columns}},
    CONSTRAINT active_periods_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT active_periods_end_not_before_start CHECK (valid_from <= valid_to),
    CONSTRAINT active_periods_kind_known
        CHECK (kind IN ('trial', 'intro', 'offer', 'paid', 'family', 'assigned', 'grace')),
    CONSTRAINT active_periods_end_reason_known
        CHECK (end_reason IN ('expired', 'upgraded', 'replaced', 'refunded', 'revoked',
            'assignment_ended', 'open')),
    CONSTRAINT active_periods_expiration_reason_known CHECK (
        expiration_reason IN
            ('customer', 'billing', 'price_increase', 'product_unavailable', 'unbundled', 'other')
    ),
    CONSTRAINT active_periods_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.active_periods IS
    'When a subscription gave access: one row per purchase and one per billing grace period. In the order of valid_from, valid_to, kind, product_identifier. A fold of the log; rebuild it, never edit it.';
