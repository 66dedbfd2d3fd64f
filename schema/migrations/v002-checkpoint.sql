-- Checkpoints: the heads of all lanes at one moment, as `subledger checkpoint` took them.
--
-- The copy that proves something lies outside the database. The rows are kept so that an edit by
-- someone who forgot them is found, and so that a signed one that was lost outside can be had again.

CREATE TABLE ledger.checkpoint (
    lane       int         NOT NULL,
    taken_at   timestamptz NOT NULL,
    digest     bytea       NOT NULL,
    public_key bytea,
    signature  bytea,
    body       bytea       NOT NULL,
    CONSTRAINT checkpoint_pkey PRIMARY KEY (lane, digest),
    CONSTRAINT checkpoint_lane_is_of_digest
        CHECK (lane = ledger.lane_of(encode(digest, 'hex'))),
    CONSTRAINT checkpoint_digest_is_of_body CHECK (digest = sha256(body)),
    CONSTRAINT checkpoint_signature_has_key CHECK ((signature IS NULL) = (public_key IS NULL)),
    CONSTRAINT checkpoint_body_capped CHECK (octet_length(body) <= 65536)
) /* by lane */;
-- `verify --since` reads the newer ones.
CREATE INDEX checkpoint_taken_at ON ledger.checkpoint (taken_at, digest);
COMMENT ON TABLE ledger.checkpoint IS
    'The checkpoints that were taken, each once: the heads of all lanes at one moment. Outside of the chain. A copy outside the database proves more: whoever can rewrite the log can delete these rows.';
COMMENT ON COLUMN ledger.checkpoint.lane IS 'lane_of(digest in hexadecimal): it belongs to no subscription.';
COMMENT ON COLUMN ledger.checkpoint.taken_at IS 'The server''s clock when the heads were read, as in body; whole milliseconds.';
COMMENT ON COLUMN ledger.checkpoint.digest IS 'SHA-256 of body.';
COMMENT ON COLUMN ledger.checkpoint.public_key IS 'The P-256 key that signed body: SubjectPublicKeyInfo in DER. NULL where it is not signed.';
COMMENT ON COLUMN ledger.checkpoint.signature IS 'ECDSA over the SHA-256 of body, in DER. NULL where it is not signed.';
COMMENT ON COLUMN ledger.checkpoint.body IS 'The checkpoint in canonical bytes (schema/README.md).';
