-- One row for each longest stretch in which nothing of a subscription's state changed. Rows of a
-- subscription never overlap. Rebuilt from the log at any time, and never edited by hand. Instants
-- are milliseconds UTC.
CREATE TABLE {{schema}}.renewal_states (
    lane                    integer            NOT NULL,
    environment             text COLLATE "C"   NOT NULL,
    original_transaction_id text COLLATE "C"   NOT NULL,
    ordinal                 integer            NOT NULL,
    valid_from_ms           bigint             NOT NULL,
    valid_to_ms             bigint             NULL,
    status                  text COLLATE "C"   NOT NULL,
    charge                  text COLLATE "C"   NOT NULL,
    is_auto_renew_on        boolean            NULL,
    auto_renew_product_id   text COLLATE "C"   NULL,
    price_consent           text COLLATE "C"   NULL,
    expiration_reason       text COLLATE "C"   NULL,
    renewal_price_milliunits    bigint           NULL,
    renewal_currency            text COLLATE "C" NULL,
    renewal_offer_type          bigint           NULL,
    renewal_offer_identifier    text COLLATE "C" NULL,
    renewal_offer_discount_type text COLLATE "C" NULL,
    renewal_offer_period        text COLLATE "C" NULL,
    renewal_billing_plan_type            text COLLATE "C" NULL,
    commitment_renewal_ms                bigint           NULL,
    commitment_renewal_price_milliunits  bigint           NULL,
    is_commitment_auto_renew_on          boolean          NULL,
    commitment_auto_renew_product_id     text COLLATE "C" NULL,
    commitment_renewal_billing_plan_type text COLLATE "C" NULL,
    positions               bigint[]           NOT NULL,
    CONSTRAINT renewal_states_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT renewal_states_end_after_start CHECK (valid_from_ms < valid_to_ms),
    CONSTRAINT renewal_states_status_known
        CHECK (status IN ('active', 'grace_period', 'billing_retry', 'expired', 'revoked')),
    CONSTRAINT renewal_states_charge_known
        CHECK (charge IN ('waiting', 'succeeded', 'failed', 'closed')),
    CONSTRAINT renewal_states_price_consent_known
        CHECK (price_consent IN ('pending', 'accepted')),
    CONSTRAINT renewal_states_expiration_reason_known CHECK (
        expiration_reason IN
            ('customer', 'billing', 'price_increase', 'product_unavailable', 'other')
    ),
    CONSTRAINT renewal_states_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.renewal_states IS
    'Where a subscription stood, and how it was set to renew, as intervals. A fold of the log; rebuild it, never edit it.';
COMMENT ON COLUMN {{schema}}.renewal_states.lane IS
    'The partition of the log, and of every table: lane_of(original_transaction_id).';
COMMENT ON COLUMN {{schema}}.renewal_states.environment IS
    'Apple''s word: Production, Sandbox, Xcode … Equal ids of two environments are two subscriptions.';
COMMENT ON COLUMN {{schema}}.renewal_states.original_transaction_id IS
    'Apple''s id of the subscription: text, never a number.';
COMMENT ON COLUMN {{schema}}.renewal_states.ordinal IS
    'Row number within the subscription, from 1, by valid_from_ms.';
COMMENT ON COLUMN {{schema}}.renewal_states.valid_from_ms IS
    'First instant of the state.';
COMMENT ON COLUMN {{schema}}.renewal_states.valid_to_ms IS
    'First instant not of the state; NULL until further notice. In the last row of a running subscription the end of what is paid: nothing is known beyond. A grace whose renewal is retried is followed by billing_retry until 60 days after the expiry, then expired.';
COMMENT ON COLUMN {{schema}}.renewal_states.status IS
    'Apple''s five: active and grace_period with access, billing_retry, expired and revoked without.';
COMMENT ON COLUMN {{schema}}.renewal_states.charge IS
    'The next charge: waiting for the end of the period, succeeded before it, failed and retried, or closed: there will be none.';
COMMENT ON COLUMN {{schema}}.renewal_states.is_auto_renew_on IS
    'Whether it is set to renew, as Apple said it last; NULL before Apple first says it after a purchase, and where it said on before the subscription expired.';
COMMENT ON COLUMN {{schema}}.renewal_states.auto_renew_product_id IS
    'The product that renews next; NULL where nobody said.';
COMMENT ON COLUMN {{schema}}.renewal_states.price_consent IS
    'The answer to a price increase: pending or accepted; NULL where there is none to answer.';
COMMENT ON COLUMN {{schema}}.renewal_states.expiration_reason IS
    'Apple''s expirationIntent of an expired or retried subscription: customer (turned auto-renewal off), billing, price_increase (not agreed to), product_unavailable or other; billing also where a retry ended in silence; NULL where Apple did not say.';
COMMENT ON COLUMN {{schema}}.renewal_states.renewal_price_milliunits IS
    'Apple''s renewalPrice: what the next charge will be, after a discount; NULL where there will be none or Apple did not say.';
COMMENT ON COLUMN {{schema}}.renewal_states.renewal_currency IS
    'ISO 4217 of that price; NULL where there is none.';
COMMENT ON COLUMN {{schema}}.renewal_states.renewal_offer_type IS
    'Apple''s offerType of the offer that applies to the next charge: 1 introductory, 2 promotional, 3 offer code, 4 win-back; NULL at the standard price.';
COMMENT ON COLUMN {{schema}}.renewal_states.renewal_offer_identifier IS
    'Apple''s offerIdentifier of that offer; NULL for an introductory offer, or where there is none.';
COMMENT ON COLUMN {{schema}}.renewal_states.renewal_offer_discount_type IS
    'Apple''s offerDiscountType of that offer: FREE_TRIAL, PAY_AS_YOU_GO or PAY_UP_FRONT; NULL where Apple did not say.';
COMMENT ON COLUMN {{schema}}.renewal_states.renewal_offer_period IS
    'Apple''s offerPeriod of that offer, as a duration of ISO 8601; NULL where Apple did not say.';
COMMENT ON COLUMN {{schema}}.renewal_states.renewal_billing_plan_type IS
    'Apple''s renewalBillingPlanType: how the next period is paid, BILLED_UPFRONT or MONTHLY; NULL where Apple did not say.';
COMMENT ON COLUMN {{schema}}.renewal_states.commitment_renewal_ms IS
    'When a new commitment begins, unless it is off; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.renewal_states.commitment_renewal_price_milliunits IS
    'What the new commitment costs; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.renewal_states.is_commitment_auto_renew_on IS
    'Whether a new commitment follows on this one; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.renewal_states.commitment_auto_renew_product_id IS
    'The product of the new commitment; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.renewal_states.commitment_renewal_billing_plan_type IS
    'How the new commitment is paid; NULL without a commitment.';
COMMENT ON COLUMN {{schema}}.renewal_states.positions IS
    'Offsets, in the lane, of the events that caused the row. Depend on arrival; in no digest.';
