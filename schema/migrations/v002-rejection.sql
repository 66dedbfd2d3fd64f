-- What was refused, and why. Not part of the chain of digests: it proves nothing, anybody can send
-- any amount of it, and so the owner may delete rows; the writer may only insert, and nobody edits.
--
-- lane is that of the payload's digest: a payload that was refused names no subscription that could
-- be believed.

CREATE TABLE ledger.rejection (
    lane           int         NOT NULL,
    byte_count     int         NOT NULL,
    received_at    timestamptz NOT NULL,
    payload_digest bytea       NOT NULL,
    reason         text        COLLATE "C" NOT NULL,
    source         text        COLLATE "C" NOT NULL,
    location       text        COLLATE "C" NOT NULL,
    message        text        COLLATE "C" NOT NULL,
    body           bytea       COMPRESSION lz4,
    CONSTRAINT rejection_pkey PRIMARY KEY (lane, payload_digest, reason),
    CONSTRAINT rejection_lane_is_of_payload
        CHECK (lane = ledger.lane_of(encode(payload_digest, 'hex'))),
    CONSTRAINT rejection_payload_digest_size CHECK (octet_length(payload_digest) = 32),
    CONSTRAINT rejection_byte_count_from_zero CHECK (byte_count >= 0),
    CONSTRAINT rejection_body_capped CHECK (octet_length(body) <= 65536)
) /* by lane */;
-- Newest first is how they are looked at.
CREATE INDEX rejection_received_at ON ledger.rejection (received_at);
COMMENT ON TABLE ledger.rejection IS
    'Payloads that were refused, each once a reason. Outside of the chain: input nobody has to believe. The owner may delete rows, the writer may only insert.';
COMMENT ON COLUMN ledger.rejection.lane IS 'lane_of(payload_digest in hexadecimal): it belongs to no subscription.';
COMMENT ON COLUMN ledger.rejection.byte_count IS 'Length of the payload as it arrived, whatever of it is kept.';
COMMENT ON COLUMN ledger.rejection.received_at IS 'Our clock: when it was refused for this reason the first time; whole milliseconds.';
COMMENT ON COLUMN ledger.rejection.payload_digest IS 'SHA-256 of the exact bytes that arrived.';
COMMENT ON COLUMN ledger.rejection.reason IS 'The machine word of the refusal (subledger rejections --reason).';
COMMENT ON COLUMN ledger.rejection.source IS 'The channel it came by the first time, as the operator names it.';
COMMENT ON COLUMN ledger.rejection.location IS 'Where it was found the first time: a path, with its number where there are several; empty where nobody said.';
COMMENT ON COLUMN ledger.rejection.message IS 'The reason for people, without control characters, cut to a limit.';
COMMENT ON COLUMN ledger.rejection.body IS 'Its first 64 KiB, every password blanked; NULL where a secret could not be told from the rest.';
