-- The lanes that may have an id other than an original transaction id. Such an id decides no lane; a
-- ledger that is distributed over several servers reads here which lanes to search. Other ledgers have
-- no rows here.
--
-- An append commits its ids here before its rows. If it then fails, its ids stay: a look-up of one of
-- them reads a lane and finds nothing.
CREATE TABLE operation.lookup_key (
    key  bigint NOT NULL,
    lane int    NOT NULL,
    CONSTRAINT lookup_key_pkey PRIMARY KEY (key, lane)
);
COMMENT ON TABLE operation.lookup_key IS
    'The lanes of a distributed ledger that may have an id: a customer, a token, a transaction, a receipt. Not part of the log: migrate fills it from there.';
COMMENT ON COLUMN operation.lookup_key.key IS
    'The first eight bytes of the SHA-256 of the id as UTF-8; of a receipt, of its own bytes.';
