-- One row a stretch of time in which a subscription was one customer's: who had it when.
-- Rebuilt from the log at any time, and never edited by hand. Instants are milliseconds UTC.
CREATE TABLE {{schema}}.customers (
    lane                    integer          NOT NULL,
    environment             text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    ordinal                 integer          NOT NULL,
    customer                text COLLATE "C" NULL,
    app_account_token       text COLLATE "C" NULL,
    valid_from_ms           bigint           NOT NULL,
    valid_to_ms             bigint           NULL,
    positions               bigint[]         NOT NULL,
    CONSTRAINT customers_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT customers_end_after_start
        CHECK (valid_to_ms IS NULL OR valid_from_ms < valid_to_ms),
    CONSTRAINT customers_named
        CHECK (customer IS NOT NULL OR app_account_token IS NOT NULL),
    CONSTRAINT customers_has_cause CHECK (cardinality(positions) > 0)
);

COMMENT ON TABLE {{schema}}.customers IS
    'Who had a subscription when, as its own events say it: the links that the operator stated and the app account tokens that Apple signed. It joins no subscriptions: what one app receipt, one appTransactionId or a token of another subscription says of it is not here, and `subledger customers show` answers with it. A fold of the log; rebuild it, never edit it.';
COMMENT ON COLUMN {{schema}}.customers.lane IS
    'The partition of the log, and of every table: lane_of(original_transaction_id).';
COMMENT ON COLUMN {{schema}}.customers.environment IS
    'Apple''s word: Production, Sandbox, Xcode … Equal ids of two environments are two subscriptions.';
COMMENT ON COLUMN {{schema}}.customers.original_transaction_id IS
    'Apple''s id of the subscription: text, never a number. Joins every other table, with lane and environment.';
COMMENT ON COLUMN {{schema}}.customers.ordinal IS
    'Row number within the subscription, from 1, by valid_from_ms.';
COMMENT ON COLUMN {{schema}}.customers.customer IS
    'The app''s own name for the customer, by a link that held then; NULL where none did, also where a link to another subscription of the same token names them. A contested link moves nothing and is not here.';
COMMENT ON COLUMN {{schema}}.customers.app_account_token IS
    'The app account token of that time as Apple wrote it, also under a link; before the first one that one. The same token in letters of another case is the same customer. NULL where Apple signed none.';
COMMENT ON COLUMN {{schema}}.customers.valid_from_ms IS
    'First instant of the stretch; 0 for from the first purchase on.';
COMMENT ON COLUMN {{schema}}.customers.valid_to_ms IS
    'First instant after it; NULL where no end is known. It may lie in the future, as a link may.';
COMMENT ON COLUMN {{schema}}.customers.positions IS
    'Offsets, in the lane, of the events that caused the row. Depend on arrival; in no digest.';
