-- One row per span of time in which a subscription belonged to one customer: who had it when.
-- Rebuilt from the log at any time, and never edited by hand.
CREATE TABLE {{schema}}.customers (
{{columns}},
    CONSTRAINT customers_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT customers_end_after_start CHECK (valid_to IS NULL OR valid_from < valid_to),
    CONSTRAINT customers_named
        CHECK (customer IS NOT NULL OR app_account_token IS NOT NULL),
    CONSTRAINT customers_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.customers IS
    'Who had a subscription when, according to its own events, in the order of valid_from: the links that the operator stated and the app account tokens that Apple signed. This table does not join subscriptions by a shared app receipt, appTransactionId or token; `subledger customers show` does. A fold of the log; rebuild it, never edit it.';
