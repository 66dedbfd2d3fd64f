-- One row per case: a refund of one purchase that was requested, declined, granted or reversed.
-- Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.refunds (
{{columns}},
    CONSTRAINT refunds_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT refunds_kind_known
        CHECK (
            refund_kind IN ('full', 'prorated', 'items', 'seats', 'family_revoke',
                'assignment_ended', 'bundled', 'replaced', 'untyped')
        ),
    CONSTRAINT refunds_timing_known
        CHECK (refund_timing IN ('before_start', 'current', 'older', 'after_expiry')),
    CONSTRAINT refunds_reversal_known CHECK (reversal IN ('announced', 'inferred')),
    CONSTRAINT refunds_state_known
        CHECK (refund_state IN ('requested', 'declined', 'refunded', 'revoked', 'reversed')),
    CONSTRAINT refunds_kind_where_given
        CHECK ((refund_kind IS NOT NULL) = (refund_state IN ('refunded', 'revoked', 'reversed'))),
    CONSTRAINT refunds_reversed_where_reversed
        CHECK ((reversed_at IS NOT NULL) = (refund_state = 'reversed')
            AND (reversal IS NOT NULL) = (refund_state = 'reversed')),
    CONSTRAINT refunds_dated_where_refunded
        CHECK (refund_state NOT IN ('refunded', 'revoked') OR announced_at IS NOT NULL),
    CONSTRAINT refunds_net_where_given CHECK (NOT is_net OR refund_kind IS NOT NULL),
    CONSTRAINT refunds_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.refunds IS
    'Refunds of purchases and their outcome: one row per case. In the order of purchase_date_ms, then of the start of the cases. A fold of the log; rebuild it, never edit it.';
