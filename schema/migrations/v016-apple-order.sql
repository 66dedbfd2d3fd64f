-- The subscriptions behind the order ids of Apple's invoices (M…). No payload contains such an id:
-- Apple gives it over TLS, without a signature, as the answer to `subledger import` (Look Up Order
-- ID). So it only finds subscriptions; it is not part of the log, and no answer rests on it. It leads
-- to a person, so an erasure removes it with the customer.
CREATE TABLE operation.apple_order (
    lane                    int  NOT NULL,
    environment             text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    order_id                text COLLATE "C" NOT NULL,
    CONSTRAINT apple_order_pkey
        PRIMARY KEY (lane, environment, original_transaction_id, order_id),
    CONSTRAINT apple_order_id_is_upper_case CHECK (order_id ~ '^[0-9A-Z]{1,32}$')
);
CREATE INDEX apple_order_by_id ON operation.apple_order (order_id);
COMMENT ON TABLE operation.apple_order IS
    'The order ids that `subledger import` asked Apple about: one row for each subscription in the order. Not part of the log; a lost row costs one request.';
COMMENT ON COLUMN operation.apple_order.order_id IS
    'The order id of the invoice, in upper case as Apple writes it.';

-- An earlier version kept the order ids that it had asked about here, where no erasure found them.
DELETE FROM operation.poll WHERE original_transaction_id ~ '^[A-Za-z]';
