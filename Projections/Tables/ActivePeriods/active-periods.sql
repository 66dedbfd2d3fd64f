-- One row a purchase and one a billing grace: when a subscription gave access, and why it stopped.
-- Rebuilt from the log at any time, and never edited by hand. Instants are milliseconds UTC.
CREATE TABLE {{schema}}.active_periods (
    lane                    integer            NOT NULL,
    environment             text COLLATE "C"   NOT NULL,
    original_transaction_id text COLLATE "C"   NOT NULL,
    ordinal                 integer            NOT NULL,
    product_id              text COLLATE "C"   NOT NULL,
    purchase_date_ms        bigint             NOT NULL,
    expires_date_ms         bigint             NOT NULL,
    valid_from_ms           bigint             NOT NULL,
    valid_to_ms             bigint             NOT NULL,
    kind                    text COLLATE "C"   NOT NULL,
    end_reason              text COLLATE "C"   NOT NULL,
    expiration_reason       text COLLATE "C"   NULL,
    billing_plan_type       text COLLATE "C"   NULL,
    commitment_period_number    bigint         NULL,
    commitment_period_count     bigint         NULL,
    commitment_expires_ms       bigint         NULL,
    commitment_price_milliunits bigint         NULL,
    advanced_commerce_skus  text[] COLLATE "C" NOT NULL,
    positions               bigint[]           NOT NULL,
    CONSTRAINT active_periods_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT active_periods_end_not_before_start CHECK (valid_from_ms <= valid_to_ms),
    CONSTRAINT active_periods_kind_known
        CHECK (kind IN ('trial', 'intro', 'offer', 'paid', 'grace')),
    CONSTRAINT active_periods_end_reason_known
        CHECK (end_reason IN ('expired', 'upgraded', 'refunded', 'revoked', 'open')),
    CONSTRAINT active_periods_expiration_reason_known CHECK (
        expiration_reason IN
            ('customer', 'billing', 'price_increase', 'product_unavailable', 'other')
    ),
    CONSTRAINT active_periods_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.active_periods IS
    'When a subscription gave access: one row a purchase, one a billing grace. A fold of the log; rebuild it, never edit it.';
COMMENT ON COLUMN {{schema}}.active_periods.lane IS
    'The partition of the log, and of every table: lane_of(original_transaction_id).';
COMMENT ON COLUMN {{schema}}.active_periods.environment IS
    'Apple''s word: Production, Sandbox, Xcode … Equal ids of two environments are two subscriptions.';
COMMENT ON COLUMN {{schema}}.active_periods.original_transaction_id IS
    'Apple''s id of the subscription: text, never a number.';
COMMENT ON COLUMN {{schema}}.active_periods.ordinal IS
    'Row number within the subscription, from 1, by valid_from_ms, valid_to_ms, kind, product_id.';
COMMENT ON COLUMN {{schema}}.active_periods.product_id IS
    'The product that was bought; empty where no format said it.';
COMMENT ON COLUMN {{schema}}.active_periods.purchase_date_ms IS
    'Start of the purchase, in whole seconds.';
COMMENT ON COLUMN {{schema}}.active_periods.expires_date_ms IS
    'Natural end of the purchase, in whole seconds, as Apple said it last.';
COMMENT ON COLUMN {{schema}}.active_periods.valid_from_ms IS
    'First instant with access.';
COMMENT ON COLUMN {{schema}}.active_periods.valid_to_ms IS
    'First instant without access. Equal to valid_from_ms where the purchase never counted.';
COMMENT ON COLUMN {{schema}}.active_periods.kind IS
    'trial, intro, offer or paid: the terms of the purchase; grace: a failed renewal.';
COMMENT ON COLUMN {{schema}}.active_periods.end_reason IS
    'expired, upgraded, refunded, revoked (family sharing), or open: not ended when Apple last spoke, by the newest date it signed. No clock closes a row: where valid_to_ms has passed since, it has expired as far as is known.';
COMMENT ON COLUMN {{schema}}.active_periods.expiration_reason IS
    'Why the subscription was not renewed at the end, as Apple''s expirationIntent says it: customer (turned auto-renewal off), billing, price_increase (not agreed to), product_unavailable or other; NULL where access went on or Apple did not say.';
COMMENT ON COLUMN {{schema}}.active_periods.billing_plan_type IS
    'Apple''s billingPlanType: BILLED_UPFRONT (at once for the whole duration) or MONTHLY (with a commitment); NULL where Apple did not say.';
COMMENT ON COLUMN {{schema}}.active_periods.commitment_period_number IS
    'Which billing period of the commitment it is, from 1; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.active_periods.commitment_period_count IS
    'How many billing periods the customer committed to; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.active_periods.commitment_expires_ms IS
    'When the commitment ends; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.active_periods.commitment_price_milliunits IS
    'Apple''s commitmentPrice: what the whole commitment costs, in thousandths of the currency''s unit; no charge of its own, and never to be added to prices. NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.active_periods.advanced_commerce_skus IS
    'The developer''s SKUs of the items of an Advanced Commerce purchase, in Apple''s order; empty for all others.';
COMMENT ON COLUMN {{schema}}.active_periods.positions IS
    'Offsets, in the lane, of the events that caused the row. Depend on arrival; in no digest.';
