-- Refused payloads can be taken in later: what is kept of them is as large as real receipts are,
-- is listed in the order of the input, and is marked when it was taken in. Nothing of this is part
-- of the chain.

-- Rows from before this migration have no known place in a run: epoch and 1.
ALTER TABLE ledger.rejection
    ADD COLUMN run_started_at timestamptz NOT NULL DEFAULT 'epoch',
    ADD COLUMN input_no bigint NOT NULL DEFAULT 1,
    ADD CONSTRAINT rejection_input_no_from_one CHECK (input_no >= 1),
    DROP CONSTRAINT rejection_body_capped,
    ADD CONSTRAINT rejection_body_capped CHECK (octet_length(body) <= 1048576);
ALTER TABLE ledger.rejection
    ALTER COLUMN run_started_at DROP DEFAULT,
    ALTER COLUMN input_no DROP DEFAULT;
-- They are looked at run by run, and in a run in the order of the input: rejection_in_order, which
-- Schema.swift lists, takes the place of this one.
DROP INDEX ledger.rejection_received_at;
COMMENT ON COLUMN ledger.rejection.run_started_at IS 'Our clock: when the run began that refused it for this reason the first time; of a payload that came alone, when it arrived.';
COMMENT ON COLUMN ledger.rejection.input_no IS 'Its place in the input of that run, from 1: many are verified at once, so received_at does not order them.';
COMMENT ON COLUMN ledger.rejection.body IS 'Its first MiB, every password blanked; NULL where a secret could not be told from the rest, and where the bodies of all rows had reached about 1 GiB (the message says so).';

-- A row of rejection is never changed, so what was taken in later is a row here. It is written after
-- the append of the payload: a crash between leaves it open; taking it in again is harmless and
-- writes the row.
CREATE TABLE ledger.rejection_taken (
    lane           int         NOT NULL,
    taken_at       timestamptz NOT NULL,
    payload_digest bytea       NOT NULL,
    CONSTRAINT rejection_taken_pkey PRIMARY KEY (lane, payload_digest),
    CONSTRAINT rejection_taken_lane_is_of_payload
        CHECK (lane = ledger.lane_of(encode(payload_digest, 'hex'))),
    CONSTRAINT rejection_taken_payload_digest_size CHECK (octet_length(payload_digest) = 32)
) /* by lane */;
COMMENT ON TABLE ledger.rejection_taken IS
    'Payloads that were refused and then taken in. Outside of the chain, like ledger.rejection; the owner may delete rows, the writer may only insert.';
COMMENT ON COLUMN ledger.rejection_taken.lane IS 'lane_of(payload_digest in hexadecimal), as in ledger.rejection.';
COMMENT ON COLUMN ledger.rejection_taken.taken_at IS 'Our clock: when it had been taken in the first time after it was refused; whole milliseconds.';
COMMENT ON COLUMN ledger.rejection_taken.payload_digest IS 'The digest under which ledger.rejection has it.';
