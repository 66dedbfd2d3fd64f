-- The ledger: what must never be lost, and what is kept next to it. Everything else is a fold over
-- the log.
--
-- Rules that hold for every table here (checked by the schema lint in Tests/EventLogTests): `lane`
-- in every primary and unique key, no sequence, no xid, no ctid in data, no logic in a trigger. A
-- table that is partitioned by lane on request ends in the marker `/* by lane */`, which the migrator
-- replaces. Columns of fixed width come first, so that rows have little padding.

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
COMMENT ON COLUMN ledger.ledger_config.ledger_id IS 'Identifies this ledger; a restored copy keeps it.';
COMMENT ON COLUMN ledger.ledger_config.lanes IS 'Number of lanes; a power of two; fixed for ever, because offsets are.';
COMMENT ON COLUMN ledger.ledger_config.format_version IS 'Version of the canonical bytes with which the chains start (schema/README.md); commit.format says which a commit has.';

CREATE TABLE ledger.evidence_dictionary (
    version int   NOT NULL,
    body    bytea NOT NULL,
    CONSTRAINT evidence_dictionary_pkey PRIMARY KEY (version),
    CONSTRAINT evidence_dictionary_version_is_a_byte CHECK (version BETWEEN 1 AND 255)
);
COMMENT ON TABLE ledger.evidence_dictionary IS
    'Preset dictionaries of the deflated payloads in evidence and evidence_segment (schema/README.md). Written by migrations only; a version is never changed.';

CREATE TABLE ledger.lane (
    lane int NOT NULL,
    CONSTRAINT lane_pkey PRIMARY KEY (lane)
) /* by lane */;
COMMENT ON TABLE ledger.lane IS
    'One row a lane, never changed. A writer that keeps losing the race for the next offset locks its row for one turn.';

CREATE TABLE ledger.event (
    lane                    int         NOT NULL,
    is_imported             boolean     NOT NULL,
    is_late                 boolean     NOT NULL,
    lane_offset             bigint      NOT NULL,
    recorded_at             timestamptz NOT NULL,
    as_of_ms                bigint      NOT NULL,
    purchase_date_ms        bigint      NOT NULL,
    expires_date_ms         bigint      NOT NULL,
    evidence_no             bigint      NOT NULL,
    fact_key                uuid        NOT NULL,
    environment             text        COLLATE "C" NOT NULL,
    original_transaction_id text        COLLATE "C" NOT NULL,
    kind                    text        COLLATE "C" NOT NULL,
    bundle_id               text        COLLATE "C" NOT NULL,
    store                   text        COLLATE "C",
    product_id              text        COLLATE "C",
    transaction_id          text        COLLATE "C",
    web_order_line_item_id  text        COLLATE "C",
    app_transaction_id      text        COLLATE "C",
    app_account_token       text        COLLATE "C",
    customer_id             text        COLLATE "C",
    salt                    bytea       NOT NULL,
    content                 bytea       NOT NULL,
    CONSTRAINT event_pkey PRIMARY KEY (lane, lane_offset),
    CONSTRAINT event_fact_unique UNIQUE (lane, original_transaction_id, fact_key),
    CONSTRAINT event_lane_is_of_stream CHECK (lane = ledger.lane_of(original_transaction_id)),
    CONSTRAINT event_offset_from_one CHECK (lane_offset >= 1),
    CONSTRAINT event_key_in_whole_seconds
        CHECK (purchase_date_ms % 1000 = 0 AND expires_date_ms % 1000 = 0),
    CONSTRAINT event_kind_known CHECK (
        kind IN ('transaction', 'renewal', 'notification', 'link', 'catalog')),
    CONSTRAINT event_customer_of_links_only CHECK (customer_id IS NULL OR kind = 'link'),
    CONSTRAINT event_store_named CHECK (store <> '')
) /* by lane */;
CREATE INDEX event_transaction_id ON ledger.event (transaction_id)
    WHERE transaction_id IS NOT NULL;
CREATE INDEX event_web_order_line_item_id ON ledger.event (web_order_line_item_id)
    WHERE web_order_line_item_id IS NOT NULL;
CREATE INDEX event_app_transaction_id ON ledger.event (app_transaction_id)
    WHERE app_transaction_id IS NOT NULL;
CREATE INDEX event_app_account_token ON ledger.event (app_account_token)
    WHERE app_account_token IS NOT NULL;
CREATE INDEX event_customer_id ON ledger.event (customer_id) WHERE customer_id IS NOT NULL;
COMMENT ON TABLE ledger.event IS
    'The log. One verified fact a row, appended once, never changed; position (lane, lane_offset), dense and in commit order.';
COMMENT ON COLUMN ledger.event.lane IS 'Partition of the log: lane_of(original_transaction_id).';
COMMENT ON COLUMN ledger.event.is_imported IS 'Whether its payload was imported (files, unless ingest was told otherwise); false where it arrived live.';
COMMENT ON COLUMN ledger.event.is_late IS 'Whether the subject was known and its stream confirmed as of a later time when the event came. The writer reads the repetitions of such a subject before it judges what is news; no answer is read from it.';
COMMENT ON COLUMN ledger.event.lane_offset IS 'From 1, without holes. Who has read n has every event up to n, for ever.';
COMMENT ON COLUMN ledger.event.recorded_at IS 'The server''s clock: when the event was committed; whole milliseconds; equal for one commit; never falls within a lane.';
COMMENT ON COLUMN ledger.event.as_of_ms IS 'Apple''s clock: when the payload asserted the fact (signedDate); of a link the instant that it names, of a catalog version its import. Milliseconds since 1970, UTC.';
COMMENT ON COLUMN ledger.event.purchase_date_ms IS 'Key: start of the paid period in whole seconds (the raw value is in the evidence); 0 for a renewal snapshot.';
COMMENT ON COLUMN ledger.event.expires_date_ms IS 'Key: end of the paid period in whole seconds; 0 where nothing expires.';
COMMENT ON COLUMN ledger.event.evidence_no IS 'The payload that proves the fact: evidence.evidence_no in the same lane, brought by the same commit.';
COMMENT ON COLUMN ledger.event.fact_key IS 'What makes two facts the same: 6 bytes for the subject (environment, kind, dates, name), 10 bytes for content and as-of (schema/README.md). No digest of the chain covers it.';
COMMENT ON COLUMN ledger.event.environment IS 'Apple''s word: Production, Sandbox, Xcode, LocalTesting. Part of the identity of a stream. Empty for catalog versions.';
COMMENT ON COLUMN ledger.event.original_transaction_id IS 'Key: the subscription. Text: Apple''s ids are never numbers here. Empty for statements about no transaction; catalog for catalog versions.';
COMMENT ON COLUMN ledger.event.kind IS 'transaction, renewal (a snapshot of renewal info), notification; the operator''s own: link, catalog.';
COMMENT ON COLUMN ledger.event.store IS 'NULL for Apple''s App Store; reserved for the word of another store (schema/README.md).';
COMMENT ON COLUMN ledger.event.product_id IS 'What was bought; of transactions only.';
COMMENT ON COLUMN ledger.event.transaction_id IS 'An alias of the purchase, not its identity: restores make new ones (see confirmation).';
COMMENT ON COLUMN ledger.event.customer_id IS 'The app''s own name for the customer whom a link names; NULL in a link that ends one, and in all that is not a link.';
COMMENT ON COLUMN ledger.event.salt IS 'Sixteen random bytes from which the salts of the event''s three commitments are derived (schema/README.md).';
COMMENT ON COLUMN ledger.event.content IS 'All fields of the fact in canonical bytes (schema/README.md; readable with ledger.content_fields). The typed columns repeat some for people and indexes; verify checks that they agree.';

CREATE TABLE ledger.confirmation (
    lane                    int         NOT NULL,
    commit_no               bigint      NOT NULL,
    known_from_offset       bigint      NOT NULL,
    recorded_at             timestamptz NOT NULL,
    as_of_ms                bigint      NOT NULL,
    evidence_no             bigint      NOT NULL,
    environment             text        COLLATE "C" NOT NULL,
    original_transaction_id text        COLLATE "C" NOT NULL,
    salt                    bytea       NOT NULL,
    repetitions             bytea       NOT NULL,
    transaction_ids         text[]      COLLATE "C",
    CONSTRAINT confirmation_pkey PRIMARY KEY (
        lane, environment, original_transaction_id, as_of_ms, commit_no),
    CONSTRAINT confirmation_lane_is_of_stream
        CHECK (lane = ledger.lane_of(original_transaction_id)),
    CONSTRAINT confirmation_transaction_ids_are_a_list CHECK (
        transaction_ids IS NULL OR coalesce(
            array_ndims(transaction_ids) = 1 AND array_lower(transaction_ids, 1) = 1
            AND array_position(transaction_ids, NULL) IS NULL, false))
) /* by lane */;
-- The chain is verified commit by commit.
CREATE INDEX confirmation_commit ON ledger.confirmation (lane, commit_no);
CREATE INDEX confirmation_transaction_ids ON ledger.confirmation USING gin (transaction_ids)
    WHERE transaction_ids IS NOT NULL;
COMMENT ON TABLE ledger.confirmation IS
    'Repetitions: statements that repeated, as of another instant, by stronger proof or under another transaction id, what events already say. One row for each commit, stream and minute of as-of, however many statements it holds.';
COMMENT ON COLUMN ledger.confirmation.commit_no IS 'The commit that brought it.';
COMMENT ON COLUMN ledger.confirmation.known_from_offset IS 'first_offset of that commit: known at offset k if this is <= k.';
COMMENT ON COLUMN ledger.confirmation.recorded_at IS 'committed_at of that commit.';
COMMENT ON COLUMN ledger.confirmation.as_of_ms IS 'Apple''s clock: the earliest as-of in repetitions; none is more than a minute later.';
COMMENT ON COLUMN ledger.confirmation.evidence_no IS 'The lowest number of the payloads that prove it; repetitions counts from it.';
COMMENT ON COLUMN ledger.confirmation.salt IS 'As in event.';
COMMENT ON COLUMN ledger.confirmation.repetitions IS 'Which payload repeated which fields of which event, as of when, coded in a few bytes each (schema/README.md; readable with ledger.repetitions).';
COMMENT ON COLUMN ledger.confirmation.transaction_ids IS 'The transaction ids that were new for known purchases (aliases, made by restores); NULL where there are none.';

CREATE TABLE ledger.evidence (
    lane         int         NOT NULL,
    byte_count   int         NOT NULL,
    root_key     int,
    is_imported  boolean     NOT NULL,
    evidence_no  bigint      NOT NULL,
    commit_no    bigint      NOT NULL,
    received_at  timestamptz NOT NULL,
    digest       bytea       NOT NULL,
    kind         text        COLLATE "C" NOT NULL,
    source       text        COLLATE "C" NOT NULL,
    verification text        COLLATE "C" NOT NULL,
    context      text        COLLATE "C",
    body         bytea       NOT NULL,
    CONSTRAINT evidence_pkey PRIMARY KEY (lane, evidence_no),
    CONSTRAINT evidence_number_from_one CHECK (evidence_no >= 1),
    CONSTRAINT evidence_digest_size CHECK (octet_length(digest) = 32),
    CONSTRAINT evidence_context_named CHECK (context <> ''),
    CONSTRAINT evidence_signed_has_root
        CHECK ((verification = 'signed') = (root_key IS NOT NULL))
) /* by lane */;
-- Seven bytes tell payloads apart, and with their length fill the eight of an index entry.
CREATE INDEX evidence_digest ON ledger.evidence (substr(digest, 1, 7));
COMMENT ON TABLE ledger.evidence IS
    'The payloads that prove the events and confirmations of a lane, each put together again bit by bit from body and evidence_segment. A payload is the smallest piece that proves itself: a JWS with those nested in it, an app receipt, an unsigned body, one element of a statuses response.';
COMMENT ON COLUMN ledger.evidence.byte_count IS 'Length of the payload.';
COMMENT ON COLUMN ledger.evidence.evidence_no IS 'From 1 within the lane, without holes, in commit order.';
COMMENT ON COLUMN ledger.evidence.commit_no IS 'The commit that brought it, which cites it at least once; no other commit does.';
COMMENT ON COLUMN ledger.evidence.received_at IS 'Our clock: when the payload reached us; whole milliseconds.';
COMMENT ON COLUMN ledger.evidence.digest IS 'SHA-256 of the payload.';
COMMENT ON COLUMN ledger.evidence.source IS 'The channel it came by, as the operator names it.';
COMMENT ON COLUMN ledger.evidence.is_imported IS 'Whether it was imported (files, unless ingest was told otherwise); false where it arrived live.';
COMMENT ON COLUMN ledger.evidence.verification IS 'Why it is believed: signed (by Apple), fetched (from Apple, by our client), shared-secret (carried the app''s), vouched (by the operator).';
COMMENT ON COLUMN ledger.evidence.root_key IS 'The root certificate its signatures lead to: root_certificate.root_key in the same lane; NULL where nothing is signed.';
COMMENT ON COLUMN ledger.evidence.context IS 'What was used of the words around the payload, which it does not prove itself, as JSON with their own trust; NULL where nothing was.';
COMMENT ON COLUMN ledger.evidence.body IS 'The payload, packed (schema/README.md): repeated segments by reference, base64 decoded, deflated.';

CREATE TABLE ledger.root_certificate (
    lane     int   NOT NULL,
    root_key int   NOT NULL,
    digest   bytea NOT NULL,
    CONSTRAINT root_certificate_pkey PRIMARY KEY (lane, root_key),
    CONSTRAINT root_certificate_digest_size CHECK (octet_length(digest) = 32),
    CONSTRAINT root_certificate_key_is_of_digest
        CHECK (root_key = ('x' || encode(substr(digest, 1, 4), 'hex'))::bit(32)::int)
) /* by lane */;
COMMENT ON TABLE ledger.root_certificate IS
    'The root certificates that the signatures of payloads lead to, each once a lane.';
COMMENT ON COLUMN ledger.root_certificate.root_key IS 'First 4 bytes of digest.';
COMMENT ON COLUMN ledger.root_certificate.digest IS 'SHA-256 of the certificate in DER. The records of evidence cover it.';

CREATE TABLE ledger.evidence_segment (
    lane        int   NOT NULL,
    segment_key bytea NOT NULL,
    body        bytea NOT NULL,
    CONSTRAINT evidence_segment_pkey PRIMARY KEY (lane, segment_key),
    CONSTRAINT evidence_segment_key_size CHECK (octet_length(segment_key) = 16)
) /* by lane */;
COMMENT ON TABLE ledger.evidence_segment IS
    'Parts of payloads that repeat (JWS headers with their certificates), each kept once a lane.';
COMMENT ON COLUMN ledger.evidence_segment.segment_key IS 'First 16 bytes of the SHA-256 of the segment as it stood in the payload.';
COMMENT ON COLUMN ledger.evidence_segment.body IS 'The segment, packed like evidence.body.';

CREATE TABLE ledger.commit (
    lane              int         NOT NULL,
    count             int         NOT NULL,
    commit_no         bigint      NOT NULL,
    first_offset      bigint      NOT NULL,
    first_evidence_no bigint      NOT NULL,
    committed_at      timestamptz NOT NULL,
    evidence          int         NOT NULL,
    confirmations     int         NOT NULL,
    format            int         NOT NULL,
    digest            bytea       NOT NULL,
    CONSTRAINT commit_pkey PRIMARY KEY (lane, commit_no),
    CONSTRAINT commit_number_from_one CHECK (commit_no >= 1),
    CONSTRAINT commit_digest_size CHECK (octet_length(digest) = 32),
    CONSTRAINT commit_brings_something CHECK (
        count >= 0 AND confirmations >= 0 AND count + confirmations > 0 AND evidence > 0)
) /* by lane */;
COMMENT ON TABLE ledger.commit IS
    'One append to one lane. The digests chain: each covers the one before and all that the commit brought.';
COMMENT ON COLUMN ledger.commit.count IS 'Number of its events.';
COMMENT ON COLUMN ledger.commit.commit_no IS 'From 1, without holes.';
COMMENT ON COLUMN ledger.commit.first_offset IS 'Offset of its first event; the next free offset where it only brought confirmations.';
COMMENT ON COLUMN ledger.commit.first_evidence_no IS 'Number of its first payload.';
COMMENT ON COLUMN ledger.commit.committed_at IS 'The server''s clock when the commit was decided; whole milliseconds; never falls within a lane.';
COMMENT ON COLUMN ledger.commit.evidence IS 'Number of its payloads.';
COMMENT ON COLUMN ledger.commit.confirmations IS 'Number of its rows in ledger.confirmation.';
COMMENT ON COLUMN ledger.commit.format IS 'Version of the canonical bytes of this commit and of all that it brought (schema/README.md).';
COMMENT ON COLUMN ledger.commit.digest IS 'SHA-256 over the previous digest, this row and the digests of its events and confirmations (schema/README.md).';

-- What was refused, and why. Not part of the chain of digests: it proves nothing, anybody can send
-- any amount of it, and so the owner may delete rows; the writer may only insert, and nobody edits.
--
-- lane is that of the payload's digest: a payload that was refused names no subscription that could
-- be believed.

CREATE TABLE ledger.rejection (
    lane           int         NOT NULL,
    byte_count     int         NOT NULL,
    run_started_at timestamptz NOT NULL,
    input_no       bigint      NOT NULL,
    received_at    timestamptz NOT NULL,
    payload_digest bytea       NOT NULL,
    reason         text        COLLATE "C" NOT NULL,
    source         text        COLLATE "C" NOT NULL,
    location       text        COLLATE "C" NOT NULL,
    message        text        COLLATE "C" NOT NULL,
    body           bytea,
    CONSTRAINT rejection_pkey PRIMARY KEY (lane, payload_digest, reason),
    CONSTRAINT rejection_lane_is_of_payload
        CHECK (lane = ledger.lane_of(encode(payload_digest, 'hex'))),
    CONSTRAINT rejection_payload_digest_size CHECK (octet_length(payload_digest) = 32),
    CONSTRAINT rejection_byte_count_from_zero CHECK (byte_count >= 0),
    CONSTRAINT rejection_input_no_from_one CHECK (input_no >= 1),
    CONSTRAINT rejection_body_capped CHECK (octet_length(body) <= 1048576)
) /* by lane */;
-- They are looked at run by run, and in a run in the order of the input.
CREATE INDEX rejection_in_order ON ledger.rejection (run_started_at, input_no);
COMMENT ON TABLE ledger.rejection IS
    'Payloads that were refused, each once a reason. Outside of the chain: input nobody has to believe. The owner may delete rows, the writer may only insert.';
COMMENT ON COLUMN ledger.rejection.lane IS 'lane_of(payload_digest in hexadecimal): it belongs to no subscription.';
COMMENT ON COLUMN ledger.rejection.byte_count IS 'Length of the payload as it arrived, whatever of it is kept.';
COMMENT ON COLUMN ledger.rejection.run_started_at IS 'Our clock: when the run began that refused it for this reason the first time; of a payload that came alone, when it arrived.';
COMMENT ON COLUMN ledger.rejection.input_no IS 'Its place in the input of that run, from 1: many are verified at once, so received_at does not order them.';
COMMENT ON COLUMN ledger.rejection.received_at IS 'Our clock: when it was refused for this reason the first time; whole milliseconds.';
COMMENT ON COLUMN ledger.rejection.payload_digest IS 'SHA-256 of the exact bytes that arrived.';
COMMENT ON COLUMN ledger.rejection.reason IS 'The machine word of the refusal (subledger rejections --reason).';
COMMENT ON COLUMN ledger.rejection.source IS 'The channel it came by the first time, as the operator names it.';
COMMENT ON COLUMN ledger.rejection.location IS 'Where it was found the first time: a path, with its number where there are several; empty where nobody said.';
COMMENT ON COLUMN ledger.rejection.message IS 'The reason for people, without control characters, cut to a limit.';
COMMENT ON COLUMN ledger.rejection.body IS 'Its first MiB, every password blanked; NULL where a secret could not be told from the rest, and where the bodies of all rows had reached about 1 GiB (the message says so).';

-- Which refused payloads were taken in later: a row of rejection is never changed. Written after the
-- append of the payload, so that a crash between leaves it open; taking it in again is harmless and
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

-- What each ingest run came to: how often facts are repeated and transactions restored cannot be
-- told from the log alone, which keeps only what is news. Outside of the chain of digests: it is
-- about our own work, and proves nothing about Apple's data.

CREATE TABLE ledger.ingestion (
    lane               int         NOT NULL,
    run_id             uuid        NOT NULL,
    started_at         timestamptz NOT NULL,
    finished_at        timestamptz NOT NULL,
    payloads           bigint      NOT NULL,
    rejected           bigint      NOT NULL,
    appended           bigint      NOT NULL,
    duplicates         bigint      NOT NULL,
    restored           bigint      NOT NULL,
    streams            bigint      NOT NULL,
    unchanged          bigint      NOT NULL,
    was_stopped        boolean     NOT NULL,
    source             text        COLLATE "C" NOT NULL,
    rejected_by_reason jsonb       NOT NULL,
    CONSTRAINT ingestion_pkey PRIMARY KEY (lane, run_id, source),
    CONSTRAINT ingestion_lane_is_of_run CHECK (lane = ledger.lane_of(run_id::text)),
    CONSTRAINT ingestion_ends_after_its_start CHECK (finished_at >= started_at),
    CONSTRAINT ingestion_counts_from_zero CHECK (
        rejected >= 0 AND payloads >= rejected AND appended >= 0 AND duplicates >= 0
        AND restored >= 0 AND restored <= appended + duplicates AND streams >= 0
        AND unchanged BETWEEN 0 AND payloads)
) /* by lane */;
COMMENT ON TABLE ledger.ingestion IS
    'One row for each ingest run and source, written at its end, also when it was stopped. A run that dies leaves none; its facts are in the log all the same.';
COMMENT ON COLUMN ledger.ingestion.lane IS 'lane_of(run_id as text): a run belongs to no subscription.';
COMMENT ON COLUMN ledger.ingestion.started_at IS 'Our clock, whole milliseconds.';
COMMENT ON COLUMN ledger.ingestion.finished_at IS 'Our clock, whole milliseconds.';
COMMENT ON COLUMN ledger.ingestion.payloads IS 'Payloads seen, the refused ones included.';
COMMENT ON COLUMN ledger.ingestion.rejected IS 'Payloads refused whole, each time counted: ledger.rejection keeps each once.';
COMMENT ON COLUMN ledger.ingestion.appended IS 'Facts that became events.';
COMMENT ON COLUMN ledger.ingestion.duplicates IS 'Facts that the log knew already.';
COMMENT ON COLUMN ledger.ingestion.restored IS 'Facts whose transaction id was new for a purchase that was known: a restore made it.';
COMMENT ON COLUMN ledger.ingestion.streams IS 'Subscriptions that the payloads spoke of.';
COMMENT ON COLUMN ledger.ingestion.unchanged IS 'Payloads that were verified and neither brought nor confirmed anything: they are not kept.';
COMMENT ON COLUMN ledger.ingestion.was_stopped IS 'Whether it was interrupted; the counts are of what was done until then.';
COMMENT ON COLUMN ledger.ingestion.rejected_by_reason IS 'How many payloads for each machine word; adds up to rejected.';

-- What the app sold, and since when: the levels that tell an upgrade from a downgrade are in no
-- payload of Apple's. Each version is an event of kind catalog, whose content
-- covers the digest of the body and the instant from which it holds; the body is kept here.
--
-- All versions are in one lane, so that the primary key keeps their numbers unique: two imports at
-- once cannot become one version.

CREATE TABLE ledger.catalog (
    lane              int         NOT NULL,
    version           int         NOT NULL,
    effective_from_ms bigint      NOT NULL,
    recorded_at       timestamptz NOT NULL,
    source            text        COLLATE "C" NOT NULL,
    digest            bytea       NOT NULL,
    body              text        COLLATE "C" NOT NULL,
    CONSTRAINT catalog_pkey PRIMARY KEY (lane, version),
    CONSTRAINT catalog_in_one_lane CHECK (lane = ledger.lane_of('catalog')),
    CONSTRAINT catalog_version_from_one CHECK (version >= 1),
    CONSTRAINT catalog_digest_is_of_body CHECK (digest = sha256(convert_to(body, 'UTF8'))),
    CONSTRAINT catalog_body_capped CHECK (octet_length(body) <= 33554432)
) /* by lane */;
COMMENT ON TABLE ledger.catalog IS
    'The versions of the product catalog, one a row, never changed: a mistake is answered by a new version.';
COMMENT ON COLUMN ledger.catalog.lane IS 'lane_of(''catalog''): it belongs to no subscription.';
COMMENT ON COLUMN ledger.catalog.version IS 'From 1, without holes, in the order of import.';
COMMENT ON COLUMN ledger.catalog.effective_from_ms IS 'The first instant it holds for, as the operator says. Milliseconds since 1970, UTC. Of two versions from one instant on, the higher number holds.';
COMMENT ON COLUMN ledger.catalog.recorded_at IS 'Our clock: when it was imported; whole milliseconds.';
COMMENT ON COLUMN ledger.catalog.source IS 'The file it was read from, as it was named then.';
COMMENT ON COLUMN ledger.catalog.digest IS 'SHA-256 of body as UTF-8: importing the same again is told by it.';
COMMENT ON COLUMN ledger.catalog.body IS 'The catalog as normalised JSON, whatever the format of the file was (schema/README.md).';

-- The first dictionary for packed payloads (schema/README.md): what Apple's payloads have in common,
-- in the form of a frame. Exactly the bytes between the two tags, the line feed at the end included.
--
-- Never edit it: every body that was packed with it would be lost. A better one gets a number of
-- its own. It holds property names in Apple's order and the values that Apple chooses, nothing of
-- any app or customer. Rare texts come first: deflate spends fewer bits on what is near.
INSERT INTO ledger.evidence_dictionary (version, body)
VALUES (1, convert_to($dictionary${"notification_type":"INITIAL_BUY","notification_type":"INTERACTIVE_RENEWAL","notification_type":"CANCEL","cancellation_date":"~","cancellation_date_ms":"~","cancellation_date_pst":"~","cancellation_reason":"0","notification_type":"DID_RECOVER","notification_type":"DID_CHANGE_RENEWAL_PREF","notification_type":"DID_FAIL_TO_RENEW","notification_type":"DID_CHANGE_RENEWAL_STATUS","auto_renew_status_change_date":"~","auto_renew_status_change_date_ms":"~","auto_renew_status_change_date_pst":"~","notification_type":"DID_RENEW","environment":"PROD","password":"","bid":"~","bvrs":"~","auto_renew_product_id":"~","auto_renew_adam_id":"~","auto_renew_status":"true","original_transaction_id":"~","deprecation":"~","unified_receipt":{"status":0,"environment":"Production","latest_receipt":"&
"receipt_type":"ProductionSandbox","cancellation_reason":"1","is_upgraded":"true","promotional_offer_id":"~","offer_code_ref_name":"","app_account_token":"#","in_app_ownership_type":"FAMILY_SHARED","latest_expired_receipt_info":[
{"status":0,"environment":"Production","receipt":{"receipt_type":"Production","adam_id":~,"app_item_id":~,"bundle_id":"~","application_version":"~","download_id":~,"version_external_identifier":~,"receipt_creation_date":"~","receipt_creation_date_ms":"~","receipt_creation_date_pst":"~","request_date":"~","request_date_ms":"~","request_date_pst":"~","original_purchase_date":"~","original_purchase_date_ms":"~","original_purchase_date_pst":"~","original_application_version":"~","in_app":[{"quantity":"1","is_trial_period":"true"}]},"latest_receipt_info":[{"quantity":"1","product_id":"~","transaction_id":"~","original_transaction_id":"~","purchase_date":"~","purchase_date_ms":"~","purchase_date_pst":"~","original_purchase_date":"~","original_purchase_date_ms":"~","original_purchase_date_pst":"~","expires_date":"~","expires_date_ms":"~","expires_date_pst":"~","web_order_line_item_id":"~","is_trial_period":"false","is_in_intro_offer_period":"false","in_app_ownership_type":"PURCHASED","subscription_group_identifier":"~"},{"quantity":"1","latest_receipt":"&|","pending_renewal_info":[{"expiration_intent":"1","grace_period_expires_date":"~","grace_period_expires_date_ms":"~","grace_period_expires_date_pst":"~","auto_renew_product_id":"~","is_in_billing_retry_period":"1","product_id":"~","original_transaction_id":"~","auto_renew_status":"1"}],"status":0}
{"revision":"~","hasMore":false,"bundleId":"~","appAppleId":~,"environment":"Production","signedTransactions":["^
{"environment":"Production","bundleId":"~","appAppleId":~,"data":[{"subscriptionGroupIdentifier":"~","lastTransactions":[{"originalTransactionId":"~","status":2,"signedTransactionInfo":"^{
EXTERNAL_PURCHASE_TOKEN","UNREPORTED","RENEWAL_EXTENSION","SUMMARY","RESCIND_CONSENT","METADATA_UPDATE","PRICE_CHANGE","TEST","ONE_TIME_CHARGE","CONSUMPTION_REQUEST","RENEWAL_EXTENDED","REFUND_DECLINED","REFUND_REVERSED","PRICE_INCREASE","ACCEPTED","PENDING","REVOKE","OFFER_REDEEMED
"notificationType":"DID_CHANGE_RENEWAL_PREF","subtype":"UPGRADE",
"notificationType":"DID_CHANGE_RENEWAL_PREF","subtype":"DOWNGRADE",
"notificationType":"GRACE_PERIOD_EXPIRED",
"notificationType":"EXPIRED","subtype":"PRODUCT_NOT_FOR_SALE",
"notificationType":"EXPIRED","subtype":"PRICE_INCREASE",
"notificationType":"EXPIRED","subtype":"BILLING_RETRY",
"notificationType":"DID_FAIL_TO_RENEW","subtype":"GRACE_PERIOD",
"notificationType":"DID_RENEW","subtype":"BILLING_RECOVERY",
"notificationType":"DID_CHANGE_RENEWAL_STATUS","subtype":"AUTO_RENEW_ENABLED",
"notificationType":"SUBSCRIBED","subtype":"RESUBSCRIBE",
"notificationType":"REFUND",
"type":"Non-Renewing Subscription","type":"Non-Consumable","type":"Consumable","appAccountToken":"#","inAppOwnershipType":"FAMILY_SHARED","offerPeriod":"P1M","offerPeriod":"P1W","offerDiscountType":"PAY_AS_YOU_GO","offerDiscountType":"PAY_UP_FRONT","offerDiscountType":"ONE_TIME","eligibleWinBackOfferIds":["priceIncreaseStatus":1,"renewalBillingPlanType":"BILLED_UPFRONT","MONTHLY","advancedCommerceInfo":{"environment":"Sandbox","
"quantity":1,"type":"Auto-Renewable Subscription","appAccountToken":"#","inAppOwnershipType":"PURCHASED","signedDate":~,"revocationReason":0,"revocationDate":~,"revocationType":"REFUND_FULL","revocationPercentage":100000,"isUpgraded":true,"offerType":2,"offerIdentifier":"~","environment":"Production","transactionReason":"RENEWAL"
"signedRenewalInfo":"^{"expirationIntent":2,"originalTransactionId":"~","autoRenewProductId":"~","productId":"~","autoRenewStatus":1,"isInBillingRetryPeriod":true,"gracePeriodExpiresDate":~,"offerType":1,"offerIdentifier":"~","offerDiscountType":"FREE_TRIAL","signedDate":~,"environment":"Production"
"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","notificationUUID":"#","data":{"appAppleId":~,
"inAppOwnershipType":"PURCHASED","signedDate":~,"offerType":1,"offerDiscountType":"FREE_TRIAL","environment":"Production","transactionReason":"PURCHASE","storefront":"~","storefrontId":"~","price":0,"currency":"~"
"notificationType":"DID_CHANGE_RENEWAL_STATUS","subtype":"AUTO_RENEW_DISABLED","notificationUUID":"#"
"notificationType":"EXPIRED","subtype":"VOLUNTARY","notificationUUID":"#","data":{"appAppleId":~,"bundleId":"~","bundleVersion":"~","environment":"Sandbox","signedTransactionInfo":"^
"quantity":1,"type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","signedDate":~,"environment":"Sandbox","transactionReason":"PURCHASE","storefront":"~","storefrontId":"~","price":~,"currency":"~"}|","signedRenewalInfo":"^{"expirationIntent":1,"originalTransactionId":"~","autoRenewProductId":"~","productId":"~","autoRenewStatus":0,"isInBillingRetryPeriod":false,"signedDate":~,"environment":"Sandbox","recentSubscriptionStartDate":~,"renewalDate":~,"appTransactionId":"~"}|","status":2},"version":"2.0","signedDate":~}|"}
{"signedPayload":"^{"notificationType":"DID_RENEW","notificationUUID":"#","data":{"appAppleId":~,"bundleId":"~","bundleVersion":"~","environment":"Production","signedTransactionInfo":"^{"transactionId":"~","originalTransactionId":"~","webOrderLineItemId":"~","bundleId":"~","productId":"~","subscriptionGroupIdentifier":"~","purchaseDate":~,"originalPurchaseDate":~,"expiresDate":~,"quantity":1,"type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","signedDate":~,"environment":"Production","transactionReason":"RENEWAL","storefront":"~","storefrontId":"~","price":~,"currency":"~","appTransactionId":"~"}|","signedRenewalInfo":"^{"originalTransactionId":"~","autoRenewProductId":"~","productId":"~","autoRenewStatus":1,"renewalPrice":~,"currency":"~","signedDate":~,"environment":"Production","recentSubscriptionStartDate":~,"renewalDate":~,"appTransactionId":"~"}|","status":1},"version":"2.0","signedDate":~}|"}
 00:00:00 America/Los_Angeles
 00:00:00 Etc/GMT
.subscription.monthly
.premium.yearly
EUR
DEU
143443
GBP
GBR
143444
USD
USA
143441
9990
4990
com.
17
2000000
$dictionary$, 'UTF8'));
