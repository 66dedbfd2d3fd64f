-- Which lanes may have a subscription with an id other than its original transaction id. The id decides
-- no lane, so a ledger that is distributed over several servers would have to ask all of them; it
-- reads here which to ask. Other ledgers have no rows here.
--
-- A commit adds its ids before its rows, in a transaction of its own. So no id of a lane is missing;
-- one of a commit that failed is too much, which costs a question to a lane, nothing else.
CREATE TABLE operation.lookup_key (
    key  bigint NOT NULL,
    lane int    NOT NULL,
    CONSTRAINT lookup_key_pkey PRIMARY KEY (key, lane)
);
COMMENT ON TABLE operation.lookup_key IS
    'Which lanes may have an id, in a distributed ledger: a customer, a token, a transaction, a receipt. Not part of the log: migrate fills it from there.';
COMMENT ON COLUMN operation.lookup_key.key IS
    'The first eight bytes of the SHA-256 of the id as UTF-8; of a receipt, of its own bytes.';
