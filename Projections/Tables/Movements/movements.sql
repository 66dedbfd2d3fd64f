-- One row for each thing that counts in the books of a business: a journal, by occurred_ms.
-- Rebuilt from the log at any time, and never edited by hand. Instants are milliseconds UTC, amounts
-- thousandths of the currency's unit.
CREATE TABLE {{schema}}.movements (
    lane                    integer            NOT NULL,
    environment             text COLLATE "C"   NOT NULL,
    original_transaction_id text COLLATE "C"   NOT NULL,
    ordinal                 integer            NOT NULL,
    movement                text COLLATE "C"   NOT NULL,
    apple_event             text COLLATE "C"   NULL,
    occurred_ms             bigint             NOT NULL,
    product_id              text COLLATE "C"   NOT NULL,
    previous_product_id     text COLLATE "C"   NULL,
    purchase_date_ms        bigint             NOT NULL,
    expires_date_ms         bigint             NULL,
    amount_milliunits       bigint             NULL,
    currency                text COLLATE "C"   NULL,
    is_family_shared        boolean            NOT NULL,
    is_resubscribe          boolean            NOT NULL,
    expiration_reason       text COLLATE "C"   NULL,
    positions               bigint[]           NOT NULL,
    CONSTRAINT movements_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT movements_movement_known CHECK (
        movement IN (
            'offer_start', 'paid_start', 'offer_renewal', 'conversion', 'renewal',
            'one_time_purchase', 'exit_plan_change', 'billing_issue_entered',
            'billing_issue_recovered', 'churn_voluntary', 'churn_involuntary',
            'churn_price_increase', 'churn_product_unavailable', 'churn_unknown', 'exit_refund',
            'family_revoke', 'refund_reversed',
            'refund_requested', 'refund_declined', 'extension', 'auto_renew_off',
            'auto_renew_on', 'plan_change_scheduled', 'plan_change_cancelled'
        )
    ),
    CONSTRAINT movements_expiration_reason_known CHECK (
        expiration_reason IN
            ('customer', 'billing', 'price_increase', 'product_unavailable', 'other')
    ),
    CONSTRAINT movements_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.movements IS
    'What began, went on, was paid, given back and ended: one row each, when it occurred. A fold of the log; rebuild it, never edit it.';
COMMENT ON COLUMN {{schema}}.movements.lane IS
    'The partition of the log, and of every table: lane_of(original_transaction_id).';
COMMENT ON COLUMN {{schema}}.movements.environment IS
    'Apple''s word: Production, Sandbox, Xcode … Equal ids of two environments are two subscriptions.';
COMMENT ON COLUMN {{schema}}.movements.original_transaction_id IS
    'Apple''s id of the subscription or one-time purchase: text, never a number.';
COMMENT ON COLUMN {{schema}}.movements.ordinal IS
    'Row number within the subscription, from 1, by occurred_ms, then by movement.';
COMMENT ON COLUMN {{schema}}.movements.movement IS
    'What moved: an acquisition (offer_start, paid_start, offer_renewal, conversion, renewal, one_time_purchase), an exit, money, or a switch.';
COMMENT ON COLUMN {{schema}}.movements.apple_event IS
    'Apple''s name in the Subscription Event report; NULL where Apple has none, or no catalog says which.';
COMMENT ON COLUMN {{schema}}.movements.occurred_ms IS
    'When, on Apple''s clock: the start of a purchase, the date of a refund, else when Apple said so.';
COMMENT ON COLUMN {{schema}}.movements.product_id IS
    'The product; of a scheduled change the one wished for.';
COMMENT ON COLUMN {{schema}}.movements.previous_product_id IS
    'The product before; NULL where none was replaced.';
COMMENT ON COLUMN {{schema}}.movements.purchase_date_ms IS
    'Start of the purchase it is about.';
COMMENT ON COLUMN {{schema}}.movements.expires_date_ms IS
    'Natural end of that purchase; NULL for what never expires.';
COMMENT ON COLUMN {{schema}}.movements.amount_milliunits IS
    'Charged (positive) or given back (negative), before Apple''s commission; 0 for family members; NULL where no money moved or nobody said how much.';
COMMENT ON COLUMN {{schema}}.movements.currency IS
    'ISO 4217 of the amount; NULL where there is none.';
COMMENT ON COLUMN {{schema}}.movements.is_family_shared IS
    'A family member''s, which brings no money.';
COMMENT ON COLUMN {{schema}}.movements.is_resubscribe IS
    'A purchase after a lapse.';
COMMENT ON COLUMN {{schema}}.movements.expiration_reason IS
    'Why a subscription ended, as Apple''s expirationIntent says it: customer, billing, price_increase (not agreed to), product_unavailable or other; NULL for what is no end, or where Apple did not say.';
COMMENT ON COLUMN {{schema}}.movements.positions IS
    'Offsets, in the lane, of the events that caused the row. Depend on arrival; in no digest.';
