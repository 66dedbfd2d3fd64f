-- One row a purchase, one-time purchases included, in the words of RevenueCat's data exports where
-- the meaning is theirs. Rebuilt from the log at any time, and never edited by hand. Amounts are
-- milliunits of their currency, in bigint: what adds up must not be a float.
CREATE TABLE {{schema}}.transactions (
    lane                          integer          NOT NULL,
    environment                   text COLLATE "C" NOT NULL,
    original_transaction_id       text COLLATE "C" NOT NULL,
    ordinal                       integer          NOT NULL,
    store_transaction_id          text COLLATE "C" NULL,
    duplicate_transaction_ids     text[]           NOT NULL,
    web_order_line_item_id        text COLLATE "C" NULL,
    product_identifier            text COLLATE "C" NOT NULL,
    product_duration              text COLLATE "C" NULL,
    subscription_group_identifier text COLLATE "C" NULL,
    group_level                   integer          NULL,
    start_time                    timestamptz      NOT NULL,
    end_time                      timestamptz      NULL,
    grace_period_end_time         timestamptz      NULL,
    effective_end_time            timestamptz      NULL,
    is_auto_renewable             boolean          NOT NULL,
    is_trial_period               boolean          NOT NULL,
    is_in_intro_offer_period      boolean          NOT NULL,
    is_sandbox                    boolean          NOT NULL,
    offer_type                    bigint           NULL,
    offer_identifier              text COLLATE "C" NULL,
    offer_discount_type           text COLLATE "C" NULL,
    purchased_currency            text COLLATE "C" NULL,
    purchase_price_milliunits     bigint           NULL,
    price_milliunits              bigint           NULL,
    country                       text COLLATE "C" NULL,
    ownership_type                text COLLATE "C" NULL,
    transaction_reason            text COLLATE "C" NULL,
    renewal_number                integer          NULL,
    consecutive_paid_periods      integer          NOT NULL,
    is_trial_conversion           boolean          NOT NULL,
    is_resubscribe                boolean          NOT NULL,
    gap_seconds                   bigint           NULL,
    plan_change                   text COLLATE "C" NULL,
    previous_product_identifier   text COLLATE "C" NULL,
    refunded_at                   timestamptz      NULL,
    revocation_reason             bigint           NULL,
    revocation_percentage         bigint           NULL,
    is_upgraded                   boolean          NOT NULL,
    unsubscribe_detected_at       timestamptz      NULL,
    billing_issues_detected_at    timestamptz      NULL,
    app_account_token             text COLLATE "C" NULL,
    quantity                      bigint           NULL,
    positions                     bigint[]         NOT NULL,
    CONSTRAINT transactions_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT transactions_ends_after_start CHECK (effective_end_time >= start_time),
    CONSTRAINT transactions_plan_change_known
        CHECK (plan_change IN ('upgrade', 'downgrade', 'crossgrade', 'plan_change')),
    CONSTRAINT transactions_change_has_previous
        CHECK ((plan_change IS NOT NULL) = (previous_product_identifier IS NOT NULL)),
    CONSTRAINT transactions_counts_from_one
        CHECK (renewal_number >= 1 AND consecutive_paid_periods >= 0),
    CONSTRAINT transactions_gap_where_resubscribed CHECK (gap_seconds IS NULL OR is_resubscribe),
    CONSTRAINT transactions_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.transactions IS
    'Purchases as analysts want them: one row each. A fold of the log; rebuild it, never edit it.';
COMMENT ON COLUMN {{schema}}.transactions.lane IS
    'The partition of the log, and of every table: lane_of(original_transaction_id).';
COMMENT ON COLUMN {{schema}}.transactions.environment IS
    'Apple''s word: Production, Sandbox, Xcode … Equal ids of two environments are two subscriptions.';
COMMENT ON COLUMN {{schema}}.transactions.original_transaction_id IS
    'Apple''s id of the subscription: text, never a number.';
COMMENT ON COLUMN {{schema}}.transactions.ordinal IS
    'Row number within the subscription, from 1, by start_time.';
COMMENT ON COLUMN {{schema}}.transactions.store_transaction_id IS
    'The lowest of its transaction ids, by length, then bytes; NULL where no format carried one.';
COMMENT ON COLUMN {{schema}}.transactions.duplicate_transaction_ids IS
    'Its other transaction ids, made by restores and devices; empty as a rule.';
COMMENT ON COLUMN {{schema}}.transactions.web_order_line_item_id IS
    'Apple''s id of the purchase over all devices; NULL where no format carried one.';
COMMENT ON COLUMN {{schema}}.transactions.product_identifier IS
    'The product that was bought; empty where no format said it.';
COMMENT ON COLUMN {{schema}}.transactions.product_duration IS
    'Length of a period at the standard price, ISO 8601, not that of a trial; NULL where the catalog does not know.';
COMMENT ON COLUMN {{schema}}.transactions.subscription_group_identifier IS
    'The group, as Apple said it, else the catalog; NULL where neither did.';
COMMENT ON COLUMN {{schema}}.transactions.group_level IS
    'Rank in the group, 1 for the most service; NULL where the catalog does not know.';
COMMENT ON COLUMN {{schema}}.transactions.start_time IS
    'Start of the purchase, in whole seconds.';
COMMENT ON COLUMN {{schema}}.transactions.end_time IS
    'Natural end of the purchase, in whole seconds; NULL for what never expires.';
COMMENT ON COLUMN {{schema}}.transactions.grace_period_end_time IS
    'End of the grace that followed it; NULL where none did.';
COMMENT ON COLUMN {{schema}}.transactions.effective_end_time IS
    'First instant without it, refund, change of plan and grace included; NULL for what never ends.';
COMMENT ON COLUMN {{schema}}.transactions.is_auto_renewable IS
    'Whether it renews itself.';
COMMENT ON COLUMN {{schema}}.transactions.is_trial_period IS
    'Whether it is a free introductory offer.';
COMMENT ON COLUMN {{schema}}.transactions.is_in_intro_offer_period IS
    'Whether it is a paid introductory offer.';
COMMENT ON COLUMN {{schema}}.transactions.is_sandbox IS
    'Whether the environment is any but Production.';
COMMENT ON COLUMN {{schema}}.transactions.offer_type IS
    'Apple''s offerType: 1 introductory, 2 promotional, 3 code, 4 win-back; NULL for the standard price.';
COMMENT ON COLUMN {{schema}}.transactions.offer_identifier IS
    'The developer''s name of the offer; NULL where there is none.';
COMMENT ON COLUMN {{schema}}.transactions.offer_discount_type IS
    'Apple''s offerDiscountType: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT, ONE_TIME …; NULL where it was not said.';
COMMENT ON COLUMN {{schema}}.transactions.purchased_currency IS
    'ISO 4217; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.transactions.purchase_price_milliunits IS
    'What was paid, quantity included, whatever was given back; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.transactions.price_milliunits IS
    'What was paid less what was given back; NULL where either is not known.';
COMMENT ON COLUMN {{schema}}.transactions.country IS
    'Country of the storefront, ISO 3166-1 alpha-3; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.transactions.ownership_type IS
    'PURCHASED or FAMILY_SHARED; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.transactions.transaction_reason IS
    'PURCHASE by the customer or RENEWAL by the App Store; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.transactions.renewal_number IS
    'Number in an unbroken chain of purchases, from 1, a trial included; NULL for one-time purchases.';
COMMENT ON COLUMN {{schema}}.transactions.consecutive_paid_periods IS
    'How many purchases of the chain up to this one were paid for; 0 where this one is free.';
COMMENT ON COLUMN {{schema}}.transactions.is_trial_conversion IS
    'Whether it carries on a free trial, and is none.';
COMMENT ON COLUMN {{schema}}.transactions.is_resubscribe IS
    'Whether it follows a lapse of the subscription.';
COMMENT ON COLUMN {{schema}}.transactions.gap_seconds IS
    'Length of that lapse; NULL where there is none, or its begin is not known.';
COMMENT ON COLUMN {{schema}}.transactions.plan_change IS
    'upgrade, downgrade, crossgrade or plan_change (not known which) from the purchase before; NULL where the product is the same.';
COMMENT ON COLUMN {{schema}}.transactions.previous_product_identifier IS
    'The product before; NULL where it is the same.';
COMMENT ON COLUMN {{schema}}.transactions.refunded_at IS
    'Date of the refund, or of the end of family sharing; NULL where it stands, and for the rest of a replaced period.';
COMMENT ON COLUMN {{schema}}.transactions.revocation_reason IS
    'Apple''s revocationReason of it: 1 an issue with the app, 0 anything else.';
COMMENT ON COLUMN {{schema}}.transactions.revocation_percentage IS
    'Apple''s revocationPercentage of it, in thousandths of a percent.';
COMMENT ON COLUMN {{schema}}.transactions.is_upgraded IS
    'Whether Apple called it upgraded.';
COMMENT ON COLUMN {{schema}}.transactions.unsubscribe_detected_at IS
    'When Apple first told that auto-renewal is off, where it still was at end_time; NULL where not, '
    'or where the next purchase was made before.';
COMMENT ON COLUMN {{schema}}.transactions.billing_issues_detected_at IS
    'When Apple first told that the renewal after it failed; NULL where it did not.';
COMMENT ON COLUMN {{schema}}.transactions.app_account_token IS
    'The app''s own id of the customer; NULL where the app gave none.';
COMMENT ON COLUMN {{schema}}.transactions.quantity IS
    'How many were bought; NULL where no format said it.';
COMMENT ON COLUMN {{schema}}.transactions.positions IS
    'Offsets, in the lane, of the events that caused the row. Depend on arrival; in no digest.';
