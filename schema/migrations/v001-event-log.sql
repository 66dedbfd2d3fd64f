-- The event log: what must never be lost. Everything else is a fold over it.
--
-- Rules that hold for every table here (DESIGN §4, checked by the catalogue lint in
-- Tests/EventLogTests): `lane` in every primary and unique key, no sequence, no xid, no ctid in
-- data, no logic in a trigger. A table that is partitioned by lane on request ends in the marker
-- `/* by lane */`, which the migrator replaces.

CREATE TABLE ledger.ledger_config (
    singleton       boolean     NOT NULL DEFAULT true,
    ledger_id       uuid        NOT NULL,
    lanes           int         NOT NULL,
    format_version  int         NOT NULL,
    created_at      timestamptz NOT NULL,
    CONSTRAINT ledger_config_pkey PRIMARY KEY (singleton),
    CONSTRAINT ledger_config_is_one_row CHECK (singleton),
    CONSTRAINT ledger_config_lanes_power_of_two
        CHECK (lanes BETWEEN 1 AND 1024 AND lanes & (lanes - 1) = 0)
);
COMMENT ON TABLE ledger.ledger_config IS
    'One row, written once: what can never change about this ledger. Every lane''s chain of digests starts from it.';
COMMENT ON COLUMN ledger.ledger_config.ledger_id IS 'Tells this ledger from every other one; a restored copy keeps it.';
COMMENT ON COLUMN ledger.ledger_config.lanes IS 'Number of lanes; a power of two; fixed for ever, because offsets are.';
COMMENT ON COLUMN ledger.ledger_config.format_version IS 'Version of the canonical bytes that digests are taken over (schema/README.md).';

CREATE TABLE ledger.lane (
    lane int NOT NULL,
    CONSTRAINT lane_pkey PRIMARY KEY (lane)
) /* by lane */;
COMMENT ON TABLE ledger.lane IS
    'One row a lane, never changed. A writer that keeps losing the race for the next offset locks its row for one turn.';

-- Fixed-width columns first, so that the row has no padding between them; what a person looks for
-- in SELECT * comes before the bytes.
CREATE TABLE ledger.event (
    lane                    int         NOT NULL,
    lane_offset             bigint      NOT NULL,
    recorded_at             timestamptz NOT NULL,
    as_of_ms                bigint      NOT NULL,
    purchase_date_ms        bigint      NOT NULL,
    expires_date_ms         bigint      NOT NULL,
    environment             text        COLLATE "C" NOT NULL,
    original_transaction_id text        COLLATE "C" NOT NULL,
    kind                    text        COLLATE "C" NOT NULL,
    bundle_id               text        COLLATE "C" NOT NULL,
    product_id              text        COLLATE "C",
    transaction_id          text        COLLATE "C",
    app_account_token       text        COLLATE "C",
    notification_type       text        COLLATE "C",
    subtype                 text        COLLATE "C",
    content_digest          bytea       NOT NULL,
    evidence_digest         bytea       NOT NULL,
    content                 bytea       NOT NULL,
    CONSTRAINT event_pkey PRIMARY KEY (lane, lane_offset),
    CONSTRAINT event_fact_unique UNIQUE (
        lane, environment, original_transaction_id, purchase_date_ms, expires_date_ms, kind,
        content_digest, as_of_ms),
    CONSTRAINT event_lane_is_of_stream CHECK (lane = ledger.lane_of(original_transaction_id)),
    CONSTRAINT event_offset_from_one CHECK (lane_offset >= 1),
    CONSTRAINT event_key_in_whole_seconds
        CHECK (purchase_date_ms % 1000 = 0 AND expires_date_ms % 1000 = 0),
    CONSTRAINT event_kind_known CHECK (kind IN ('transaction', 'renewal', 'notification')),
    CONSTRAINT event_content_digest_size CHECK (octet_length(content_digest) = 16),
    CONSTRAINT event_evidence_digest_size CHECK (octet_length(evidence_digest) = 32)
) /* by lane */;
CREATE INDEX event_app_account_token ON ledger.event (app_account_token)
    WHERE app_account_token IS NOT NULL;
CREATE INDEX event_transaction_id ON ledger.event (transaction_id)
    WHERE transaction_id IS NOT NULL;
COMMENT ON TABLE ledger.event IS
    'The log. One verified fact a row, appended once, never changed; position (lane, lane_offset), dense and in commit order.';
COMMENT ON COLUMN ledger.event.lane IS 'Partition of the log: lane_of(original_transaction_id).';
COMMENT ON COLUMN ledger.event.lane_offset IS 'From 1, without holes. Who has read n has every event up to n, for ever.';
COMMENT ON COLUMN ledger.event.recorded_at IS 'Our clock: when the event was committed; whole milliseconds; equal for one commit; never falls within a lane.';
COMMENT ON COLUMN ledger.event.as_of_ms IS 'Apple''s clock: when the payload asserted the fact (signedDate). Milliseconds since 1970, UTC.';
COMMENT ON COLUMN ledger.event.purchase_date_ms IS 'Key: start of the paid period in whole seconds (the raw value is in the evidence); 0 for a renewal snapshot.';
COMMENT ON COLUMN ledger.event.expires_date_ms IS 'Key: end of the paid period in whole seconds; 0 where nothing expires.';
COMMENT ON COLUMN ledger.event.environment IS 'Apple''s word: Production, Sandbox, Xcode, LocalTesting. Part of the identity of a stream.';
COMMENT ON COLUMN ledger.event.original_transaction_id IS 'Key: the subscription. Text: Apple''s ids are never numbers here. Empty for statements about no transaction.';
COMMENT ON COLUMN ledger.event.kind IS 'transaction, renewal (a snapshot of renewal info) or notification.';
COMMENT ON COLUMN ledger.event.transaction_id IS 'An alias of the purchase, not its identity: restores make new ones (see confirmation).';
COMMENT ON COLUMN ledger.event.content_digest IS 'First 16 bytes of SHA-256 over the meaningful fields of content: what makes two facts the same.';
COMMENT ON COLUMN ledger.event.evidence_digest IS 'The payload that proves the fact: evidence.digest in the same lane.';
COMMENT ON COLUMN ledger.event.content IS 'All fields of the fact in canonical bytes (schema/README.md; readable with ledger.content_fields). The typed columns repeat some for people and indexes; verify checks that they agree.';

CREATE TABLE ledger.confirmation (
    lane                    int    NOT NULL,
    lane_offset             bigint NOT NULL,
    as_of_ms                bigint NOT NULL,
    fields                  bigint NOT NULL,
    commit_no               bigint NOT NULL,
    known_from_offset       bigint NOT NULL,
    environment             text   COLLATE "C" NOT NULL,
    original_transaction_id text   COLLATE "C" NOT NULL,
    transaction_id          text   COLLATE "C" NOT NULL,
    CONSTRAINT confirmation_pkey PRIMARY KEY (
        lane, environment, original_transaction_id, lane_offset, as_of_ms, fields, transaction_id),
    CONSTRAINT confirmation_lane_is_of_stream
        CHECK (lane = ledger.lane_of(original_transaction_id))
) /* by lane */;
-- The chain is verified commit by commit.
CREATE INDEX confirmation_commit ON ledger.confirmation (lane, commit_no);
CREATE INDEX confirmation_transaction_id ON ledger.confirmation (transaction_id)
    WHERE transaction_id <> '';
COMMENT ON TABLE ledger.confirmation IS
    'Repetitions: Apple said again, as of another instant, what an event already says. A set, so that any order of arrival leaves the same rows; covered by the commit''s digest.';
COMMENT ON COLUMN ledger.confirmation.lane_offset IS 'The event whose statement was repeated.';
COMMENT ON COLUMN ledger.confirmation.fields IS 'Which fields of it: bit n for the field with tag n (schema/README.md).';
COMMENT ON COLUMN ledger.confirmation.commit_no IS 'The commit that brought it.';
COMMENT ON COLUMN ledger.confirmation.known_from_offset IS 'first_offset of that commit: known at offset k if this is <= k.';
COMMENT ON COLUMN ledger.confirmation.transaction_id IS 'The alias it came under, where new; else empty.';

CREATE TABLE ledger.evidence (
    lane          int         NOT NULL,
    byte_count    int         NOT NULL,
    received_at   timestamptz NOT NULL,
    digest        bytea       NOT NULL,
    kind          text        COLLATE "C" NOT NULL,
    source        text        COLLATE "C" NOT NULL,
    verification  text        COLLATE "C" NOT NULL,
    root_digest   bytea,
    header_digest bytea,
    body          bytea       COMPRESSION lz4 NOT NULL,
    CONSTRAINT evidence_pkey PRIMARY KEY (lane, digest),
    CONSTRAINT evidence_digest_size CHECK (octet_length(digest) = 32),
    CONSTRAINT evidence_root_digest_size CHECK (octet_length(root_digest) = 32),
    CONSTRAINT evidence_signed_has_root
        CHECK ((verification = 'signed') = (root_digest IS NOT NULL))
) /* by lane */;
COMMENT ON TABLE ledger.evidence IS
    'The payloads that prove the events of a lane, content-addressed, put together again bit by bit from body and evidence_segment.';
COMMENT ON COLUMN ledger.evidence.byte_count IS 'Length of the payload as it arrived.';
COMMENT ON COLUMN ledger.evidence.received_at IS 'Our clock: when the payload reached us; whole milliseconds.';
COMMENT ON COLUMN ledger.evidence.digest IS 'SHA-256 of the exact bytes that arrived.';
COMMENT ON COLUMN ledger.evidence.source IS 'The channel it came by, as the operator names it.';
COMMENT ON COLUMN ledger.evidence.verification IS 'Why it is believed: signed (by Apple), fetched (from Apple, by our client), shared-secret (carried the app''s), vouched (by the operator).';
COMMENT ON COLUMN ledger.evidence.root_digest IS 'SHA-256 of the DER of the root certificate its signatures lead to; NULL where nothing is signed.';
COMMENT ON COLUMN ledger.evidence.header_digest IS 'The first segment it refers to: the JWS header with the certificate chain, which repeats in every payload.';
COMMENT ON COLUMN ledger.evidence.body IS 'The payload, packed (schema/README.md): repeated segments by reference, base64 decoded.';

CREATE TABLE ledger.evidence_segment (
    lane   int   NOT NULL,
    digest bytea NOT NULL,
    body   bytea COMPRESSION lz4 NOT NULL,
    CONSTRAINT evidence_segment_pkey PRIMARY KEY (lane, digest),
    CONSTRAINT evidence_segment_digest_size CHECK (octet_length(digest) = 32)
) /* by lane */;
COMMENT ON TABLE ledger.evidence_segment IS
    'Parts of payloads that repeat (JWS headers with their certificates), each kept once a lane.';
COMMENT ON COLUMN ledger.evidence_segment.digest IS 'SHA-256 of the segment as it stood in the payload.';
COMMENT ON COLUMN ledger.evidence_segment.body IS 'The segment, packed like evidence.body.';

CREATE TABLE ledger.commit (
    lane          int         NOT NULL,
    count         int         NOT NULL,
    commit_no     bigint      NOT NULL,
    first_offset  bigint      NOT NULL,
    committed_at  timestamptz NOT NULL,
    confirmations int         NOT NULL,
    digest        bytea       NOT NULL,
    CONSTRAINT commit_pkey PRIMARY KEY (lane, commit_no),
    CONSTRAINT commit_digest_size CHECK (octet_length(digest) = 32),
    CONSTRAINT commit_brings_something
        CHECK (count >= 0 AND confirmations >= 0 AND count + confirmations > 0)
) /* by lane */;
COMMENT ON TABLE ledger.commit IS
    'One append to one lane. The digests chain: each covers the one before and all that the commit brought.';
COMMENT ON COLUMN ledger.commit.commit_no IS 'From 1, without holes.';
COMMENT ON COLUMN ledger.commit.first_offset IS 'Offset of its first event; the next free offset where it only brought confirmations.';
COMMENT ON COLUMN ledger.commit.digest IS 'SHA-256 over the previous digest, this row and the digests of its events and confirmations (schema/README.md).';
