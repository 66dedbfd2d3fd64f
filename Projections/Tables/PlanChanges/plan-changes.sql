-- One row a change from one product to another: wished for, withdrawn, effective, or come to nothing.
-- Rebuilt from the log at any time, and never edited by hand. Instants are milliseconds UTC.
CREATE TABLE {{schema}}.plan_changes (
    lane                    integer          NOT NULL,
    environment             text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    ordinal                 integer          NOT NULL,
    from_product_id         text COLLATE "C" NOT NULL,
    to_product_id           text COLLATE "C" NOT NULL,
    requested_ms            bigint           NULL,
    effective_ms            bigint           NULL,
    withdrawn_ms            bigint           NULL,
    state                   text COLLATE "C" NOT NULL,
    timing                  text COLLATE "C" NOT NULL,
    class                   text COLLATE "C" NOT NULL,
    same_duration           boolean          NULL,
    catalog_version       integer          NULL,
    offer_type              bigint           NULL,
    refunds_previous        boolean          NOT NULL,
    is_undated              boolean          NOT NULL,
    from_billing_plan_type  text COLLATE "C" NULL,
    to_billing_plan_type    text COLLATE "C" NULL,
    estimated_refund_milliunits bigint           NULL,
    estimated_refund_currency   text COLLATE "C" NULL,
    positions               bigint[]         NOT NULL,
    CONSTRAINT plan_changes_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT plan_changes_state_known
        CHECK (state IN ('requested', 'effective', 'withdrawn', 'lapsed')),
    CONSTRAINT plan_changes_timing_known CHECK (timing IN ('now', 'next_renewal', 'resubscribe')),
    CONSTRAINT plan_changes_class_known
        CHECK (class IN ('upgrade', 'downgrade', 'crossgrade', 'plan_change')),
    CONSTRAINT plan_changes_dated CHECK (requested_ms IS NOT NULL OR effective_ms IS NOT NULL),
    CONSTRAINT plan_changes_effective_where_effective
        CHECK ((effective_ms IS NOT NULL) = (state = 'effective')),
    CONSTRAINT plan_changes_withdrawn_where_withdrawn
        CHECK ((withdrawn_ms IS NOT NULL) = (state = 'withdrawn')),
    CONSTRAINT plan_changes_between_two_plans
        CHECK (from_product_id <> to_product_id OR from_billing_plan_type <> to_billing_plan_type),
    CONSTRAINT plan_changes_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.plan_changes IS
    'Changes of product or billing plan, wished for and effective: one row a change. A fold of the log; rebuild it, never edit it.';
COMMENT ON COLUMN {{schema}}.plan_changes.lane IS
    'The partition of the log, and of every table: lane_of(original_transaction_id).';
COMMENT ON COLUMN {{schema}}.plan_changes.environment IS
    'Apple''s word: Production, Sandbox, Xcode … Equal ids of two environments are two subscriptions.';
COMMENT ON COLUMN {{schema}}.plan_changes.original_transaction_id IS
    'Apple''s id of the subscription: text, never a number.';
COMMENT ON COLUMN {{schema}}.plan_changes.ordinal IS
    'Row number within the subscription, from 1, by requested_ms else effective_ms, then the products.';
COMMENT ON COLUMN {{schema}}.plan_changes.from_product_id IS
    'The product before.';
COMMENT ON COLUMN {{schema}}.plan_changes.to_product_id IS
    'The product after, or the one wished for.';
COMMENT ON COLUMN {{schema}}.plan_changes.requested_ms IS
    'When Apple first told of the wish; NULL for a change that took effect without one being seen.';
COMMENT ON COLUMN {{schema}}.plan_changes.effective_ms IS
    'Start of the first purchase of the new product; NULL where it never began.';
COMMENT ON COLUMN {{schema}}.plan_changes.withdrawn_ms IS
    'When Apple first told that the wish is gone; NULL where it did not.';
COMMENT ON COLUMN {{schema}}.plan_changes.state IS
    'requested, effective, withdrawn, or lapsed: the subscription ended or moved on without it.';
COMMENT ON COLUMN {{schema}}.plan_changes.timing IS
    'now (inside the old period, or in the grace or billing retry after it), next_renewal, or resubscribe (after a lapse).';
COMMENT ON COLUMN {{schema}}.plan_changes.class IS
    'upgrade, downgrade or crossgrade by the levels of the catalog; plan_change where it does not know them.';
COMMENT ON COLUMN {{schema}}.plan_changes.same_duration IS
    'Whether both products have periods of one length; NULL where the catalog does not know.';
COMMENT ON COLUMN {{schema}}.plan_changes.catalog_version IS
    'Version of the catalog that judged; NULL where there is none.';
COMMENT ON COLUMN {{schema}}.plan_changes.offer_type IS
    'Apple''s offerType of the new purchase, or of the wish; NULL for the standard price.';
COMMENT ON COLUMN {{schema}}.plan_changes.refunds_previous IS
    'Whether the rest of the old period is given back: some of it was left, and it was paid for.';
COMMENT ON COLUMN {{schema}}.plan_changes.is_undated IS
    'Whether nothing dates the wish (version 1 notifications): requested_ms and withdrawn_ms are then the earliest instants they can be of.';
COMMENT ON COLUMN {{schema}}.plan_changes.from_billing_plan_type IS
    'Apple''s billingPlanType before a change that took effect, or before a wish to pay for the same product in another way: BILLED_UPFRONT or MONTHLY; NULL where Apple did not say.';
COMMENT ON COLUMN {{schema}}.plan_changes.to_billing_plan_type IS
    'Apple''s billingPlanType after it, or the renewalBillingPlanType that is wished for. Of one product only this changes, and class is plan_change.';
COMMENT ON COLUMN {{schema}}.plan_changes.estimated_refund_milliunits IS
    'An estimate: the share of the old period''s price for the time that was left. Apple signs no amount for it; do not add it to amounts of refunds or movements. NULL where nothing is given back or it is not known.';
COMMENT ON COLUMN {{schema}}.plan_changes.estimated_refund_currency IS
    'ISO 4217 of the estimate; NULL where there is none.';
COMMENT ON COLUMN {{schema}}.plan_changes.positions IS
    'Offsets, in the lane, of the events that caused the row. Depend on arrival; in no digest.';
