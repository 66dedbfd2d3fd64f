-- One row a case: a refund asked for, refused, given or taken back again, of one purchase. Rebuilt
-- from the log at any time, and never edited by hand. Instants are milliseconds UTC, amounts
-- milliunits of their currency.
CREATE TABLE {{schema}}.refunds (
    lane                    integer          NOT NULL,
    environment             text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    ordinal                 integer          NOT NULL,
    product_id              text COLLATE "C" NOT NULL,
    purchase_date_ms        bigint           NOT NULL,
    expires_date_ms         bigint           NULL,
    kind                    text COLLATE "C" NULL,
    percentage_milli        bigint           NULL,
    reason                  bigint           NULL,
    timing                  text COLLATE "C" NULL,
    requested_ms            bigint           NULL,
    declined_ms             bigint           NULL,
    revoked_ms              bigint           NULL,
    announced_ms            bigint           NULL,
    reversed_ms             bigint           NULL,
    reversal                text COLLATE "C" NULL,
    state                   text COLLATE "C" NOT NULL,
    is_net                  boolean          NOT NULL,
    price_milliunits        bigint           NULL,
    refunded_milliunits     bigint           NULL,
    currency                text COLLATE "C" NULL,
    request_reason          text COLLATE "C" NULL,
    positions               bigint[]         NOT NULL,
    CONSTRAINT refunds_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT refunds_kind_known
        CHECK (kind IN ('full', 'prorated', 'items', 'family_revoke', 'replaced', 'untyped')),
    CONSTRAINT refunds_timing_known
        CHECK (timing IN ('before_start', 'current', 'older', 'after_expiry')),
    CONSTRAINT refunds_reversal_known CHECK (reversal IN ('announced', 'inferred')),
    CONSTRAINT refunds_state_known
        CHECK (state IN ('requested', 'declined', 'refunded', 'reversed')),
    CONSTRAINT refunds_kind_where_given
        CHECK ((kind IS NOT NULL) = (state IN ('refunded', 'reversed'))),
    CONSTRAINT refunds_reversed_where_reversed
        CHECK ((reversed_ms IS NOT NULL) = (state = 'reversed') AND (reversal IS NOT NULL) = (state = 'reversed')),
    CONSTRAINT refunds_dated_where_refunded
        CHECK (state <> 'refunded' OR announced_ms IS NOT NULL),
    CONSTRAINT refunds_net_where_given CHECK (NOT is_net OR kind IS NOT NULL),
    CONSTRAINT refunds_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.refunds IS
    'Refunds of purchases and what became of them: one row a case. A fold of the log; rebuild it, never edit it.';
COMMENT ON COLUMN {{schema}}.refunds.lane IS
    'The partition of the log, and of every table: lane_of(original_transaction_id).';
COMMENT ON COLUMN {{schema}}.refunds.environment IS
    'Apple''s word: Production, Sandbox, Xcode … Equal ids of two environments are two subscriptions.';
COMMENT ON COLUMN {{schema}}.refunds.original_transaction_id IS
    'Apple''s id of the subscription: text, never a number.';
COMMENT ON COLUMN {{schema}}.refunds.ordinal IS
    'Row number within the subscription, from 1, by purchase_date_ms, then as the cases began.';
COMMENT ON COLUMN {{schema}}.refunds.product_id IS
    'The product that was bought; empty where no format said it.';
COMMENT ON COLUMN {{schema}}.refunds.purchase_date_ms IS
    'Start of the purchase, in whole seconds.';
COMMENT ON COLUMN {{schema}}.refunds.expires_date_ms IS
    'Natural end of the purchase, in whole seconds; NULL for what never expires.';
COMMENT ON COLUMN {{schema}}.refunds.kind IS
    'full, prorated, items (of Advanced Commerce; the purchase goes on), family_revoke (no money), replaced (the rest of a period that another one took the place of), untyped (Apple did not say, or a type not known yet); NULL while nothing was given back.';
COMMENT ON COLUMN {{schema}}.refunds.percentage_milli IS
    'Apple''s revocationPercentage: thousandths of a percent of the price; NULL where it said none.';
COMMENT ON COLUMN {{schema}}.refunds.reason IS
    'Apple''s revocationReason: 1 an issue with the app, 0 anything else; NULL where it said none.';
COMMENT ON COLUMN {{schema}}.refunds.timing IS
    'Where revoked_ms lies: before_start, current (in the purchase''s own access), older (after it, another purchase gives access), after_expiry; NULL without a date.';
COMMENT ON COLUMN {{schema}}.refunds.requested_ms IS
    'When Apple told that the customer asked; NULL where it did not.';
COMMENT ON COLUMN {{schema}}.refunds.declined_ms IS
    'When Apple told that it refused; NULL where it did not.';
COMMENT ON COLUMN {{schema}}.refunds.revoked_ms IS
    'The date of the refund as Apple said it last; NULL while there is none, and where only REFUND announced it.';
COMMENT ON COLUMN {{schema}}.refunds.announced_ms IS
    'When Apple first told of the refund; NULL while there is none.';
COMMENT ON COLUMN {{schema}}.refunds.reversed_ms IS
    'When Apple first said, after that, that there is no refund; NULL while there is.';
COMMENT ON COLUMN {{schema}}.refunds.reversal IS
    'announced by REFUND_REVERSED, or inferred from a later statement without the refund; NULL where there is none.';
COMMENT ON COLUMN {{schema}}.refunds.state IS
    'requested, declined, refunded or reversed: how far the case has come.';
COMMENT ON COLUMN {{schema}}.refunds.is_net IS
    'Whether the case says how things stand with the purchase now: the last one with a refund.';
COMMENT ON COLUMN {{schema}}.refunds.price_milliunits IS
    'The price of the purchase, quantity included; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.refunds.refunded_milliunits IS
    'What is given back as things stand: 0 once reversed, and for family_revoke; NULL for replaced, while nothing was given back, and where price or part is not known, or only REFUND announced it.';
COMMENT ON COLUMN {{schema}}.refunds.currency IS
    'ISO 4217; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.refunds.request_reason IS
    'Why the customer asked, as Apple''s consumptionRequestReason: UNINTENDED_PURCHASE, FULFILLMENT_ISSUE, UNSATISFIED_WITH_PURCHASE, LEGAL, OTHER; NULL where Apple did not say.';
COMMENT ON COLUMN {{schema}}.refunds.positions IS
    'Offsets, in the lane, of the events that caused the row. Depend on arrival; in no digest.';
