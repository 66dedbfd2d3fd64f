-- One row for each longest stretch in which nothing of a subscription's state changed. Rows of a
-- subscription never overlap. Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.renewal_states (
    lane                                     integer          NOT NULL,
    environment                              text COLLATE "C" NOT NULL,
    original_transaction_id                  text COLLATE "C" NOT NULL,
    ordinal                                  integer          NOT NULL,
    valid_from                               timestamptz      NOT NULL,
    valid_to                                 timestamptz      NULL,
    status                                   text COLLATE "C" NOT NULL,
    charge                                   text COLLATE "C" NOT NULL,
    is_auto_renew_on                         boolean          NULL,
    auto_renew_product_identifier            text COLLATE "C" NULL,
    price_consent                            text COLLATE "C" NULL,
    expiration_reason                        text COLLATE "C" NULL,
    renewal_price_milliunits                 bigint           NULL,
    renewal_currency                         text COLLATE "C" NULL,
    renewal_apple_offer_type                 bigint           NULL,
    renewal_offer_identifier                 text COLLATE "C" NULL,
    renewal_offer_discount_type              text COLLATE "C" NULL,
    renewal_offer_period                     text COLLATE "C" NULL,
    renewal_billing_plan_type                text COLLATE "C" NULL,
    commitment_renewal_at                    timestamptz      NULL,
    commitment_renewal_price_milliunits      bigint           NULL,
    is_commitment_auto_renew_on              boolean          NULL,
    commitment_auto_renew_product_identifier text COLLATE "C" NULL,
    commitment_renewal_billing_plan_type     text COLLATE "C" NULL,
    renewal_seat_quantity                    bigint           NULL,
    renewal_total_milliunits                 bigint           NULL,
    renewal_bundle_product_identifier        text COLLATE "C" NULL,
    will_unbundle                            boolean          NULL,
    positions                                bigint[]         NOT NULL,
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
