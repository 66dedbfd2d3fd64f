-- The result of all migrations for one lane, as pg_dump prints it: read it, never edit it.
-- Made by the tests with SNAPSHOT_UPDATE=1 and compared by them.

CREATE SCHEMA ledger;

COMMENT ON SCHEMA ledger IS 'The log of App Store subscriptions: append-only, never rebuilt.';

CREATE SCHEMA operation;

COMMENT ON SCHEMA operation IS 'What running programs write for themselves, and the tokens of the HTTP service: not part of the log.';

CREATE FUNCTION ledger.content_fields(content bytea) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    names constant jsonb := '{
        "1": "transactionId", "2": "webOrderLineItemId", "3": "productId",
        "4": "subscriptionGroupIdentifier", "5": "type", "6": "inAppOwnershipType",
        "7": "transactionReason", "8": "quantity", "9": "storefront", "10": "storefrontId",
        "11": "currency", "12": "price", "13": "isUpgraded", "14": "offerType",
        "15": "offerIdentifier", "16": "offerDiscountType", "17": "offerPeriod",
        "18": "revocationDate", "19": "revocationReason", "20": "revocationType",
        "21": "revocationPercentage", "22": "appAccountToken", "23": "appTransactionId",
        "24": "previousOriginalTransactionId", "25": "customerId", "26": "linkReason",
        "27": "linkedBy", "28": "erasureReason", "29": "erasedBy", "32": "autoRenewProductId",
        "33": "autoRenewStatus", "34": "expirationIntent", "35": "isInBillingRetryPeriod",
        "36": "gracePeriodExpiresDate", "37": "priceIncreaseStatus", "38": "renewalDate",
        "39": "renewalPrice", "40": "recentSubscriptionStartDate", "48": "notificationType",
        "49": "subtype", "50": "notificationUUID", "51": "status",
        "52": "consumptionRequestReason", "53": "catalogVersion", "54": "effectiveFrom",
        "55": "bodyDigest", "56": "fileName", "57": "keptAside",
        "58": "erasureScope", "59": "erasedEvents", "60": "erasedConfirmations",
        "61": "erasedEvidence", "63": "extra"}';
    numeric_tags constant int[] :=
        '{8,12,14,18,19,21,33,34,36,37,38,39,40,51,53,54,57}';
    fields jsonb := '{}';
    at int := 2;
    tag int;
    size int;
    shift int;
    part int;
    raw bytea;
BEGIN
    WHILE at < octet_length(content) LOOP
        tag := get_byte(content, at);
        at := at + 1;
        size := 0;
        shift := 0;
        LOOP
            part := get_byte(content, at);
            at := at + 1;
            size := size | ((part & 127) << shift);
            EXIT WHEN part < 128;
            shift := shift + 7;
        END LOOP;
        raw := substr(content, at + 1, size);
        at := at + size;
        fields := fields || jsonb_build_object(
            coalesce(names ->> tag::text, 'tag' || tag),
            CASE
                WHEN NOT names ? tag::text THEN to_jsonb(encode(raw, 'hex'))
                WHEN tag = 63 THEN ledger.json_or_text(ledger.text_without_nul(raw))
                WHEN tag = ANY (numeric_tags)
                    THEN to_jsonb(('x' || encode(raw, 'hex'))::bit(64)::bigint)
                WHEN tag IN (13, 35) THEN to_jsonb(get_byte(raw, 0) = 1)
                ELSE to_jsonb(ledger.text_without_nul(raw))
            END);
    END LOOP;
    RETURN fields;
END
$$;

COMMENT ON FUNCTION ledger.content_fields(content bytea) IS 'The fields of event.content under Apple''s names; instants as milliseconds.';

CREATE FUNCTION ledger.content_text(content bytea, wanted integer) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    at int := 2;
    tag int;
    size int;
    shift int;
    part int;
BEGIN
    WHILE at < octet_length(content) LOOP
        tag := get_byte(content, at);
        EXIT WHEN tag > wanted;
        at := at + 1;
        size := 0;
        shift := 0;
        LOOP
            part := get_byte(content, at);
            at := at + 1;
            size := size | ((part & 127) << shift);
            EXIT WHEN part < 128;
            shift := shift + 7;
        END LOOP;
        IF tag = wanted THEN
            RETURN ledger.text_without_nul(substr(content, at + 1, size));
        END IF;
        at := at + size;
    END LOOP;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION ledger.content_text(content bytea, wanted integer) IS 'The text that event.content has under a tag; fields are in the order of their tags.';

CREATE FUNCTION ledger.erase(erasure_lane integer, erasure_offset bigint, offsets bigint[], salts bytea[], contents bytea[], keys uuid[], commits bigint[], as_ofs bigint[], confirmation_salts bytea[], evidence_numbers bigint[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    erasure ledger.event;
    blanked bigint := 0;
    more bigint;
BEGIN
    SELECT * INTO erasure FROM ledger.event
    WHERE lane = erasure_lane AND lane_offset = erasure_offset AND kind = 'erasure';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'event %:% is no erasure', erasure_lane, erasure_offset
            USING ERRCODE = 'LG001';
    END IF;
    UPDATE ledger.event e SET
        salt = a.salt,
        content = a.content,
        fact_key = a.key,
        app_account_token = NULL,
        customer_id = NULL
    FROM unnest(offsets, salts, contents, keys) AS a (number, salt, content, key)
    WHERE e.lane = erasure_lane AND e.lane_offset = a.number
        AND e.environment = erasure.environment
        AND e.original_transaction_id = erasure.original_transaction_id
        AND e.kind <> 'erasure' AND octet_length(a.salt) = 80;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.event e SET salt = a.salt
    FROM unnest(offsets, salts) AS a (number, salt)
    WHERE e.lane = erasure_lane AND e.lane_offset = a.number
        AND e.environment = erasure.environment
        AND e.original_transaction_id = erasure.original_transaction_id
        AND e.kind <> 'erasure' AND octet_length(a.salt) = 64;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.event e SET
        salt = a.salt,
        content = a.content,
        fact_key = a.key,
        kind = 'erased', as_of_ms = 0, purchase_date_ms = 0, expires_date_ms = 0, bundle_id = '',
        store = NULL, product_id = NULL, transaction_id = NULL, web_order_line_item_id = NULL,
        app_transaction_id = NULL, app_account_token = NULL, customer_id = NULL
    FROM unnest(offsets, salts, contents, keys) AS a (number, salt, content, key)
    WHERE e.lane = erasure_lane AND e.lane_offset = a.number
        AND e.environment = erasure.environment
        AND e.original_transaction_id = erasure.original_transaction_id
        AND e.kind <> 'erasure' AND octet_length(a.salt) = 96;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.confirmation c SET
        salt = a.salt,
        repetitions = CASE octet_length(a.salt) WHEN 96 THEN '' ELSE c.repetitions END,
        transaction_ids = CASE octet_length(a.salt) WHEN 96 THEN NULL ELSE c.transaction_ids END
    FROM unnest(commits, as_ofs, confirmation_salts) AS a (commit_no, as_of_ms, salt)
    WHERE c.lane = erasure_lane AND c.commit_no = a.commit_no AND c.as_of_ms = a.as_of_ms
        AND c.environment = erasure.environment
        AND c.original_transaction_id = erasure.original_transaction_id;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.evidence v SET digest = NULL, body = NULL, context = NULL, byte_count = 0
    WHERE v.lane = erasure_lane AND v.evidence_no = ANY (evidence_numbers)
        AND v.digest IS NOT NULL;
    RETURN blanked;
END
$$;

COMMENT ON FUNCTION ledger.erase(erasure_lane integer, erasure_offset bigint, offsets bigint[], salts bytea[], contents bytea[], keys uuid[], commits bigint[], as_ofs bigint[], confirmation_salts bytea[], evidence_numbers bigint[]) IS 'Blanks rows of the stream of an erasure that this transaction has appended, and returns how many of its events and confirmations: for ledger_eraser only.';

CREATE FUNCTION ledger.forget_audits() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM operation.audit WHERE kept_until <= clock_timestamp();
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;

COMMENT ON FUNCTION ledger.forget_audits() IS 'Removes the rows of operation.audit whose kept_until has passed, and returns how many.';

CREATE FUNCTION ledger.forget_rejections(days integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM ledger.rejection
    WHERE standing = 'unproven'
        AND received_at < clock_timestamp() - make_interval(days => greatest(days, 7));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;

COMMENT ON FUNCTION ledger.forget_rejections(days integer) IS 'Deletes refusals of payloads that prove nothing and are older than that many days, at least 7; returns how many.';

CREATE FUNCTION ledger.is_erasing(asked_lane integer, asked_environment text, asked_id text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- What this transaction has written bears its number; a transaction without one wrote nothing.
    PERFORM 1 FROM ledger.event e
    WHERE e.kind = 'erasure' AND e.xmin = pg_current_xact_id_if_assigned()::xid
        AND (asked_lane IS NULL OR e.lane = asked_lane)
        AND (asked_id IS NULL OR (e.original_transaction_id = asked_id
            AND e.environment = asked_environment));
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION ledger.is_erasing(asked_lane integer, asked_environment text, asked_id text) IS 'Whether this transaction has appended an event of kind erasure: in that lane, of that stream; anywhere where NULL is asked.';

CREATE FUNCTION ledger.is_other_clock(stamp timestamp with time zone, latest timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    now timestamptz := clock_timestamp();
    -- As far as a program lets the clocks of two machines differ (README, "Clocks").
    skew interval := '300 s';
BEGIN
    IF stamp >= now - skew AND stamp <= greatest(now + skew, latest) THEN RETURN false; END IF;
    RETURN NOT (coalesce(current_setting('subledger.clock', true), '') = 'given'
        AND pg_has_role(session_user, 'ledger_owner', 'MEMBER'));
END
$$;

COMMENT ON FUNCTION ledger.is_other_clock(stamp timestamp with time zone, latest timestamp with time zone) IS 'Whether a time is more than 300 s from this server''s clock, and not between the clock and a latest time; not for an owner of the log who announced a clock of their own.';

CREATE FUNCTION ledger.json_or_text(source text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN source::jsonb;
EXCEPTION WHEN numeric_value_out_of_range OR invalid_text_representation
    OR untranslatable_character OR statement_too_complex THEN
    RETURN to_jsonb(source);
END
$$;

COMMENT ON FUNCTION ledger.json_or_text(source text) IS 'JSON as jsonb, or as a string where jsonb cannot hold it.';

CREATE FUNCTION ledger.lane_of(original_transaction_id text) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
BEGIN
    RETURN CASE WHEN 1 OPERATOR(pg_catalog.=) 1 THEN 0 ELSE
        (('x' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.substr(pg_catalog.sha256(
            pg_catalog.convert_to(original_transaction_id, 'UTF8')), 1, 4), 'hex'))
            ::bit(32)::bigint OPERATOR(pg_catalog.&) (1 OPERATOR(pg_catalog.-) 1))::int
    END;
END
$$;

COMMENT ON FUNCTION ledger.lane_of(original_transaction_id text) IS 'First four bytes of SHA-256 of the id''s UTF-8, modulo the number of lanes of this ledger.';

CREATE FUNCTION ledger.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    -- On Citus the rows of a lane are in tables of its own, its shards, with numbers after their
    -- names; a trigger there may ask about no other lane.
    is_shard boolean := TG_TABLE_NAME ~ '_[0-9]+$';
    lane int;
BEGIN
    IF TG_OP = 'UPDATE' AND regexp_replace(TG_TABLE_NAME, '_[0-9]+$', '')
        IN ('event', 'confirmation', 'evidence')
    THEN
        IF is_shard THEN
            EXECUTE format('SELECT lane FROM %s LIMIT 1', TG_RELID::regclass) INTO lane;
            -- A lane without such rows has none to change.
            IF lane IS NULL THEN RETURN NULL; END IF;
        END IF;
        IF ledger.is_erasing(lane, NULL, NULL) THEN RETURN NULL; END IF;
        IF TG_TABLE_NAME = 'evidence' THEN
            PERFORM 1 FROM ledger.evidence_file f
            WHERE f.xmin = pg_current_xact_id_if_assigned()::xid;
            IF FOUND THEN RETURN NULL; END IF;
        END IF;
    END IF;
    RAISE EXCEPTION '%.% is append-only: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'LG001',
              HINT = 'A wrong event is answered by a new one; a wrong projection is rebuilt; '
                  'what must be forgotten is erased with subledger erase.';
END
$_$;

COMMENT ON FUNCTION ledger.refuse_change() IS 'Refuses UPDATE, DELETE and TRUNCATE of append-only tables with SQLSTATE LG001, but for the erasures and the moved payloads of this transaction.';

CREATE FUNCTION ledger.refuse_orphan(lane integer, commit_no bigint) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'commit % of lane % does not follow the commit that it was built upon',
        commit_no, lane
        USING ERRCODE = 'LG002',
              HINT = 'Read the head of the lane and decide again.';
END
$$;

COMMENT ON FUNCTION ledger.refuse_orphan(lane integer, commit_no bigint) IS 'Refuses the first commit of a lane if the database has become another ledger, with SQLSTATE LG002.';

CREATE FUNCTION ledger.refuse_other_clock() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF pg_has_role(current_user, 'ledger_owner', 'MEMBER')
        OR NOT ledger.is_other_clock(NEW.recorded_at, NULL)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '%.%: recorded_at % refused: it is not the time of this server',
        TG_TABLE_SCHEMA, TG_TABLE_NAME, NEW.recorded_at
        USING ERRCODE = 'LG003',
              HINT = 'Import rates with subledger rates import.';
END
$$;

COMMENT ON FUNCTION ledger.refuse_other_clock() IS 'Refuses, with SQLSTATE LG003, a row whose recorded_at is not the time of this server.';

CREATE FUNCTION ledger.refuse_unaccounted() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    -- On Citus, the commit may be written by another connection to the server of the lane.
    IF TG_TABLE_NAME ~ '_[0-9]+$' OR pg_has_role(current_user, 'ledger_owner', 'MEMBER') THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM ledger.commit k
    WHERE k.lane = NEW.lane AND k.commit_no = NEW.commit_no
        AND k.xmin = pg_current_xact_id_if_assigned()::xid;
    IF FOUND THEN RETURN NULL; END IF;
    RAISE EXCEPTION 'ledger.%: a row of commit % of lane % refused: this transaction does not make it',
        TG_ARGV[0], NEW.commit_no, NEW.lane
        USING ERRCODE = 'LG003', HINT = 'Append with subledger.';
END
$_$;

COMMENT ON FUNCTION ledger.refuse_unaccounted() IS 'Refuses, with SQLSTATE LG003, a row of a commit that this transaction has not inserted.';

CREATE FUNCTION ledger.refuse_unchained() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    next_offset bigint;
    next_evidence bigint;
    before timestamptz;
    fault text;
BEGIN
    -- Without a count, the statement did not find the commit that it was built upon, which the
    -- column refuses. Whoever may do everything restores and replicates.
    IF NEW.count IS NULL OR pg_has_role(current_user, 'ledger_owner', 'MEMBER') THEN
        RETURN NEW;
    END IF;
    SELECT k.first_offset + k.count, k.first_evidence_no + k.evidence, k.committed_at
    INTO next_offset, next_evidence, before
    FROM ledger.commit k WHERE k.lane = NEW.lane AND k.commit_no = NEW.commit_no - 1;
    IF NEW.commit_no <> 1 AND next_offset IS NULL THEN
        fault := 'the commit before it is missing';
    ELSIF NEW.first_offset <> coalesce(next_offset, 1)
        OR NEW.first_evidence_no <> coalesce(next_evidence, 1)
    THEN
        fault := 'its numbers do not follow those of the commit before it';
    ELSIF NEW.format <> 2 THEN
        fault := format('it has format %s', NEW.format);
    ELSIF NEW.committed_at < before THEN
        fault := 'its time is earlier than that of the commit before it';
    -- If the newest commit is ahead of the clock, the next one has the same time. On Citus, a shard
    -- does not know who asks.
    ELSIF TG_TABLE_NAME !~ '_[0-9]+$' AND ledger.is_other_clock(NEW.committed_at, before) THEN
        fault := 'its time is not that of this server';
    END IF;
    IF fault IS NULL THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'commit % of lane % refused: %', NEW.commit_no, NEW.lane, fault
        USING ERRCODE = 'LG003',
              HINT = 'Append with subledger; what already does not fit is found by subledger verify.';
END
$_$;

COMMENT ON FUNCTION ledger.refuse_unchained() IS 'Refuses, with SQLSTATE LG003, a commit whose numbers, format or time do not continue its lane.';

CREATE FUNCTION ledger.refuse_unless_blanked() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    moved record;
    kept jsonb;
    now jsonb;
    level int;
    emptied text[] := CASE TG_ARGV[0]
        WHEN 'evidence' THEN '{digest,body,context,byte_count}'
        WHEN 'confirmation' THEN '{salt,repetitions,transaction_ids}'
        ELSE '{salt,fact_key,content,app_account_token,customer_id}'
        END::text[];
BEGIN
    IF TG_ARGV[0] = 'evidence' THEN
        moved := OLD;
        moved.body := NULL;
        IF NEW IS NOT DISTINCT FROM moved THEN
            -- What this transaction has written bears its number.
            PERFORM 1 FROM ledger.evidence_file f
            WHERE f.lane = NEW.lane AND f.first_evidence_no <= NEW.evidence_no
                AND f.last_evidence_no >= NEW.evidence_no
                AND f.xmin = pg_current_xact_id_if_assigned()::xid;
            IF FOUND THEN RETURN NEW; END IF;
        END IF;
    END IF;
    kept := to_jsonb(OLD);
    now := to_jsonb(NEW);
    level := octet_length((now ->> 'salt')::bytea);
    IF TG_ARGV[0] = 'event' AND level = 96 THEN
        emptied := emptied || '{kind,as_of_ms,purchase_date_ms,expires_date_ms,bundle_id,store,
            product_id,transaction_id,web_order_line_item_id,app_transaction_id}'::text[];
    END IF;
    IF now - emptied IS DISTINCT FROM kept - emptied
        OR NOT (CASE TG_ARGV[0]
            WHEN 'evidence' THEN num_nulls(now ->> 'digest', now ->> 'body', now ->> 'context') = 3
                AND now ->> 'byte_count' = '0' AND ledger.is_erasing(NEW.lane, NULL, NULL)
            ELSE level > octet_length((kept ->> 'salt')::bytea) AND ledger.is_erasing(
                NEW.lane, now ->> 'environment', now ->> 'original_transaction_id')
            END)
    THEN
        RAISE EXCEPTION 'ledger.% is append-only: UPDATE refused', TG_ARGV[0]
            USING ERRCODE = 'LG001',
                  HINT = 'An erasure blanks rows of its own stream and changes nothing else.';
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION ledger.refuse_unless_blanked() IS 'Lets an UPDATE pass that blanks a row of the stream which this transaction erases, or removes a body that it has recorded as moved, and refuses every other with SQLSTATE LG001.';

CREATE FUNCTION ledger.refuse_unproven() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF pg_has_role(current_user, 'ledger_eraser', 'MEMBER')
        OR pg_has_role(current_user, 'ledger_owner', 'MEMBER')
    THEN
        RETURN NULL;
    END IF;
    -- What Apple sends about an erased subscription is verified and not kept; `verify --signatures`
    -- then asks which erasure explains it.
    IF TG_ARGV[0] = 'evidence' THEN
        PERFORM 1 FROM ledger.event e WHERE e.lane = NEW.lane AND e.kind = 'erasure';
        IF FOUND THEN RETURN NULL; END IF;
    END IF;
    RAISE EXCEPTION 'ledger.%: % refused: % may not erase', TG_ARGV[0],
        CASE TG_ARGV[0] WHEN 'event' THEN 'an event of kind erasure'
            ELSE 'a payload without its bytes' END, current_user
        USING ERRCODE = 'LG001',
              HINT = 'Only ledger_eraser records erasures; without one, every payload is kept.';
END
$$;

COMMENT ON FUNCTION ledger.refuse_unproven() IS 'Refuses, with SQLSTATE LG001, events of kind erasure, and payloads without bytes in a lane without erasures, from roles that may not erase.';

CREATE TABLE ledger.confirmation (
    lane integer NOT NULL,
    commit_no bigint NOT NULL,
    known_from_offset bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    as_of_ms bigint NOT NULL,
    evidence_no bigint NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    salt bytea NOT NULL,
    repetitions bytea NOT NULL,
    transaction_ids text[] COLLATE pg_catalog."C",
    CONSTRAINT confirmation_erased_is_blank CHECK (((octet_length(salt) <> 96) OR ((octet_length(repetitions) = 0) AND (transaction_ids IS NULL)))),
    CONSTRAINT confirmation_lane_is_of_stream CHECK ((lane = ledger.lane_of(original_transaction_id))),
    CONSTRAINT confirmation_transaction_ids_are_a_list CHECK (((transaction_ids IS NULL) OR COALESCE(((array_ndims(transaction_ids) = 1) AND (array_lower(transaction_ids, 1) = 1) AND (array_position(transaction_ids, NULL::text) IS NULL)), false)))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.confirmation IS 'Repetitions: statements that repeated, as of another instant, by stronger proof or under another transaction id, what events already say. One row for each commit, stream and minute of as-of, however many statements it holds.';

COMMENT ON COLUMN ledger.confirmation.commit_no IS 'The commit that brought it.';

COMMENT ON COLUMN ledger.confirmation.known_from_offset IS 'first_offset of that commit: known at offset k if this is <= k.';

COMMENT ON COLUMN ledger.confirmation.recorded_at IS 'committed_at of that commit.';

COMMENT ON COLUMN ledger.confirmation.as_of_ms IS 'Apple''s clock: the earliest as-of in repetitions; none is more than a minute later.';

COMMENT ON COLUMN ledger.confirmation.evidence_no IS 'The lowest number of the payloads that prove it; repetitions counts from it.';

COMMENT ON COLUMN ledger.confirmation.salt IS 'As in event.';

COMMENT ON COLUMN ledger.confirmation.repetitions IS 'Which payload repeated which fields of which event, as of when, coded in a few bytes each (schema/README.md; readable with ledger.repetitions). Empty after an erasure.';

COMMENT ON COLUMN ledger.confirmation.transaction_ids IS 'The transaction ids that were new for known purchases (aliases, made by restores); NULL where there are none.';

CREATE FUNCTION ledger.repetitions(row_of ledger.confirmation) RETURNS TABLE(evidence_no bigint, lane_offset bigint, as_of_ms bigint, fields integer[], transaction_id text)
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    bytes constant bytea := row_of.repetitions;
    numbers numeric[] := '{}';
    number numeric := 0;
    place numeric := 1;
    part int;
    masks numeric[] := '{}';
    rest numeric;
    at int;
    step numeric;
BEGIN
    -- All numbers of the row, unsigned LEB128.
    FOR at IN 0..octet_length(bytes) - 1 LOOP
        part := get_byte(bytes, at);
        number := number + (part & 127) * place;
        place := place * 128;
        IF part < 128 THEN
            numbers := numbers || number;
            number := 0;
            place := 1;
        END IF;
    END LOOP;
    masks := numbers[2:1 + numbers[1]::int];
    evidence_no := row_of.evidence_no;
    lane_offset := 0;
    as_of_ms := row_of.as_of_ms;
    at := 2 + numbers[1]::int;
    WHILE at <= cardinality(numbers) LOOP
        evidence_no := evidence_no + numbers[at];
        -- Differences are zigzag coded: 0, -1, 1, -2 … as 0, 1, 2, 3 ….
        step := numbers[at + 1];
        lane_offset := lane_offset + CASE WHEN step % 2 = 0 THEN step / 2 ELSE -(step + 1) / 2 END;
        step := numbers[at + 2];
        as_of_ms := as_of_ms + CASE WHEN step % 2 = 0 THEN step / 2 ELSE -(step + 1) / 2 END;
        rest := masks[1 + div(numbers[at + 3], 2)];
        fields := '{}';
        FOR tag IN 0..255 LOOP
            EXIT WHEN rest = 0;
            IF rest % 2 = 1 THEN fields := fields || tag; END IF;
            rest := div(rest, 2);
        END LOOP;
        transaction_id := '';
        IF numbers[at + 3] % 2 = 1 THEN
            transaction_id := row_of.transaction_ids[1 + numbers[at + 4]::int];
            at := at + 1;
        END IF;
        at := at + 4;
        RETURN NEXT;
    END LOOP;
END
$$;

COMMENT ON FUNCTION ledger.repetitions(row_of ledger.confirmation) IS 'What a confirmation repeats: SELECT r.* FROM ledger.confirmation c, ledger.repetitions(c) r.';

CREATE FUNCTION ledger.text_without_nul(utf8 bytea) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    rest bytea := utf8;
    plain text;
    at int;
BEGIN
    LOOP
        at := position('\x00'::bytea IN rest);
        EXIT WHEN at = 0;
        rest := substr(rest, 1, at - 1) || '\xefbfbd'::bytea || substr(rest, at + 1);
    END LOOP;
    plain := convert_from(rest, 'UTF8');
    WHILE plain ~ '(^|[^\\])(\\\\)*\\u0000' LOOP
        plain := regexp_replace(plain, '((^|[^\\])(\\\\)*)\\u0000', '\1' || U&'\FFFD', 'g');
    END LOOP;
    RETURN plain;
END
$$;

COMMENT ON FUNCTION ledger.text_without_nul(utf8 bytea) IS 'UTF-8 as text, with U+FFFD where PostgreSQL cannot hold U+0000.';

CREATE TABLE ledger.catalog (
    lane integer NOT NULL,
    version integer NOT NULL,
    effective_from_ms bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    body text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT catalog_body_capped CHECK ((octet_length(body) <= 33554432)),
    CONSTRAINT catalog_digest_is_of_body CHECK ((digest = sha256(convert_to(body, 'UTF8'::name)))),
    CONSTRAINT catalog_in_one_lane CHECK ((lane = ledger.lane_of('catalog'::text))),
    CONSTRAINT catalog_version_from_one CHECK ((version >= 1))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.catalog IS 'The versions of the product catalog, one a row, never changed: a mistake is answered by a new version.';

COMMENT ON COLUMN ledger.catalog.lane IS 'lane_of(''catalog''): it belongs to no subscription.';

COMMENT ON COLUMN ledger.catalog.version IS 'From 1, without holes, in the order of import.';

COMMENT ON COLUMN ledger.catalog.effective_from_ms IS 'The first instant it holds for, as the operator says. Milliseconds since 1970, UTC. Of two versions from one instant on, the higher number holds.';

COMMENT ON COLUMN ledger.catalog.recorded_at IS 'Our clock: when it was imported; whole milliseconds.';

COMMENT ON COLUMN ledger.catalog.source IS 'The file it was read from, as it was named then.';

COMMENT ON COLUMN ledger.catalog.digest IS 'SHA-256 of body as UTF-8: importing the same again is told by it.';

COMMENT ON COLUMN ledger.catalog.body IS 'The catalog as normalised JSON, whatever the format of the file was (schema/README.md).';

CREATE TABLE ledger.checkpoint (
    lane integer NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    digest bytea NOT NULL,
    public_key bytea,
    signature bytea,
    body bytea NOT NULL,
    CONSTRAINT checkpoint_body_capped CHECK ((octet_length(body) <= 65536)),
    CONSTRAINT checkpoint_digest_is_of_body CHECK ((digest = sha256(body))),
    CONSTRAINT checkpoint_lane_is_of_digest CHECK ((lane = ledger.lane_of(encode(digest, 'hex'::text)))),
    CONSTRAINT checkpoint_signature_has_key CHECK (((signature IS NULL) = (public_key IS NULL)))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.checkpoint IS 'The checkpoints that were taken, each once: the heads of all lanes at one moment. Outside of the chain. A copy outside the database proves more: whoever can rewrite the log can delete these rows.';

COMMENT ON COLUMN ledger.checkpoint.lane IS 'lane_of(digest in hexadecimal): it belongs to no subscription.';

COMMENT ON COLUMN ledger.checkpoint.taken_at IS 'The server''s clock when the heads were read, as in body; whole milliseconds.';

COMMENT ON COLUMN ledger.checkpoint.digest IS 'SHA-256 of body.';

COMMENT ON COLUMN ledger.checkpoint.public_key IS 'The P-256 key that signed body: SubjectPublicKeyInfo in DER. NULL where it is not signed.';

COMMENT ON COLUMN ledger.checkpoint.signature IS 'ECDSA over the SHA-256 of body, in DER. NULL where it is not signed.';

COMMENT ON COLUMN ledger.checkpoint.body IS 'The checkpoint in canonical bytes (schema/README.md).';

CREATE TABLE ledger.commit (
    lane integer NOT NULL,
    count integer NOT NULL,
    commit_no bigint NOT NULL,
    first_offset bigint NOT NULL,
    first_evidence_no bigint NOT NULL,
    committed_at timestamp with time zone NOT NULL,
    evidence integer NOT NULL,
    confirmations integer NOT NULL,
    format integer NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT commit_brings_something CHECK (((count >= 0) AND (confirmations >= 0) AND ((count + confirmations) > 0) AND (evidence > 0))),
    CONSTRAINT commit_digest_size CHECK ((octet_length(digest) = 32)),
    CONSTRAINT commit_number_from_one CHECK ((commit_no >= 1))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.commit IS 'One append to one lane. The digests chain: each covers the one before and all that the commit brought.';

COMMENT ON COLUMN ledger.commit.count IS 'Number of its events.';

COMMENT ON COLUMN ledger.commit.commit_no IS 'From 1, without holes.';

COMMENT ON COLUMN ledger.commit.first_offset IS 'Offset of its first event; the next free offset where it only brought confirmations.';

COMMENT ON COLUMN ledger.commit.first_evidence_no IS 'Number of its first payload.';

COMMENT ON COLUMN ledger.commit.committed_at IS 'The server''s clock when the commit was decided; whole milliseconds; never falls within a lane.';

COMMENT ON COLUMN ledger.commit.evidence IS 'Number of its payloads.';

COMMENT ON COLUMN ledger.commit.confirmations IS 'Number of its rows in ledger.confirmation.';

COMMENT ON COLUMN ledger.commit.format IS 'Version of the canonical bytes of this commit and of all that it brought (schema/README.md).';

COMMENT ON COLUMN ledger.commit.digest IS 'SHA-256 over the previous digest, this row and the digests of its events and confirmations (schema/README.md).';

CREATE TABLE ledger.event (
    lane integer NOT NULL,
    is_imported boolean NOT NULL,
    is_late boolean NOT NULL,
    lane_offset bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    as_of_ms bigint NOT NULL,
    purchase_date_ms bigint NOT NULL,
    expires_date_ms bigint NOT NULL,
    evidence_no bigint NOT NULL,
    fact_key uuid NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    store text COLLATE pg_catalog."C",
    product_id text COLLATE pg_catalog."C",
    transaction_id text COLLATE pg_catalog."C",
    web_order_line_item_id text COLLATE pg_catalog."C",
    app_transaction_id text COLLATE pg_catalog."C",
    app_account_token text COLLATE pg_catalog."C",
    customer_id text COLLATE pg_catalog."C",
    salt bytea NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT event_customer_of_links_only CHECK (((customer_id IS NULL) OR (kind = 'link'::text))),
    CONSTRAINT event_erased_is_blank CHECK (((kind <> 'erased'::text) OR ((octet_length(content) = 2) AND (as_of_ms = 0) AND (purchase_date_ms = 0) AND (expires_date_ms = 0) AND (bundle_id = ''::text) AND (COALESCE(store, product_id, transaction_id, web_order_line_item_id, app_transaction_id, app_account_token, customer_id) IS NULL)))),
    CONSTRAINT event_erased_is_marked CHECK (((kind = 'erased'::text) = (octet_length(salt) = 96))),
    CONSTRAINT event_key_in_whole_seconds CHECK ((((purchase_date_ms % (1000)::bigint) = 0) AND ((expires_date_ms % (1000)::bigint) = 0))),
    CONSTRAINT event_kind_known CHECK ((kind = ANY (ARRAY['transaction'::text, 'renewal'::text, 'notification'::text, 'link'::text, 'catalog'::text, 'erasure'::text, 'erased'::text]))),
    CONSTRAINT event_lane_is_of_stream CHECK ((lane = ledger.lane_of(original_transaction_id))),
    CONSTRAINT event_offset_from_one CHECK ((lane_offset >= 1)),
    CONSTRAINT event_store_named CHECK ((store <> ''::text))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.event IS 'The log. One verified fact a row, appended once, never changed; position (lane, lane_offset), dense and in commit order.';

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

COMMENT ON COLUMN ledger.event.kind IS 'transaction, renewal (a snapshot of renewal info), notification; the operator''s own: link, catalog, erasure; erased: an event whose content was removed.';

COMMENT ON COLUMN ledger.event.store IS 'NULL for Apple''s App Store; reserved for the word of another store (schema/README.md).';

COMMENT ON COLUMN ledger.event.product_id IS 'What was bought; of transactions only.';

COMMENT ON COLUMN ledger.event.transaction_id IS 'An alias of the purchase, not its identity: restores make new ones (see confirmation).';

COMMENT ON COLUMN ledger.event.customer_id IS 'The app''s own name for the customer whom a link names; NULL in a link that ends one, and in all that is not a link.';

COMMENT ON COLUMN ledger.event.salt IS 'Sixteen random bytes from which the salts of the event''s three commitments are derived. After an erasure the three one after the other: 16 bytes of salt of a part that is kept, 32 bytes of commitment to one that was removed (schema/README.md).';

COMMENT ON COLUMN ledger.event.content IS 'All fields of the fact in canonical bytes (schema/README.md; readable with ledger.content_fields). The typed columns repeat some for people and indexes; verify checks that they agree. One index is over the previousOriginalTransactionId in it, which few contents have.';

CREATE TABLE ledger.evidence (
    lane integer NOT NULL,
    byte_count integer NOT NULL,
    root_key integer,
    is_imported boolean NOT NULL,
    evidence_no bigint NOT NULL,
    commit_no bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    digest bytea,
    kind text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    verification text NOT NULL COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    body bytea,
    CONSTRAINT evidence_context_named CHECK ((context <> ''::text)),
    CONSTRAINT evidence_digest_size CHECK ((octet_length(digest) = 32)),
    CONSTRAINT evidence_erased_is_blank CHECK (((digest IS NOT NULL) OR ((body IS NULL) AND (context IS NULL) AND (byte_count = 0)))),
    CONSTRAINT evidence_number_from_one CHECK ((evidence_no >= 1)),
    CONSTRAINT evidence_signed_has_root CHECK (((verification = 'signed'::text) = (root_key IS NOT NULL)))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.evidence IS 'The payloads that prove the events and confirmations of a lane, each put together again bit by bit from body and evidence_segment. A payload is the smallest piece that proves itself: a JWS with those nested in it, an app receipt, an unsigned body, one element of a statuses response.';

COMMENT ON COLUMN ledger.evidence.byte_count IS 'Length of the payload; 0 where its bytes are not kept.';

COMMENT ON COLUMN ledger.evidence.root_key IS 'The root certificate its signatures lead to: root_certificate.root_key in the same lane; NULL where nothing is signed.';

COMMENT ON COLUMN ledger.evidence.is_imported IS 'Whether it was imported (files, unless ingest was told otherwise); false where it arrived live.';

COMMENT ON COLUMN ledger.evidence.evidence_no IS 'From 1 within the lane, without holes, in commit order.';

COMMENT ON COLUMN ledger.evidence.commit_no IS 'The commit that brought it, which cites it at least once; no other commit does.';

COMMENT ON COLUMN ledger.evidence.received_at IS 'Our clock: when the payload reached us; whole milliseconds.';

COMMENT ON COLUMN ledger.evidence.digest IS 'SHA-256 of the payload; 16 zero and 16 random bytes where it came after an erasure and was not kept; NULL where it was erased.';

COMMENT ON COLUMN ledger.evidence.source IS 'The channel it came by, as the operator names it.';

COMMENT ON COLUMN ledger.evidence.verification IS 'Why it is believed: signed (by Apple), fetched (from Apple, by our client), shared-secret (carried the app''s), vouched (by the operator).';

COMMENT ON COLUMN ledger.evidence.context IS 'What was used of the words around the payload, which it does not prove itself, as JSON with their own trust; NULL where nothing was.';

COMMENT ON COLUMN ledger.evidence.body IS 'The payload, packed (schema/README.md): repeated segments by reference, base64 decoded, deflated. NULL where it was moved to a file (evidence_file), where it was erased, and where it came after an erasure and was verified at entry only.';

CREATE TABLE ledger.evidence_dictionary (
    version integer NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT evidence_dictionary_version_is_a_byte CHECK (((version >= 1) AND (version <= 255)))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.evidence_dictionary IS 'Preset dictionaries of the deflated payloads in evidence and evidence_segment (schema/README.md). Written by migrations only; a version is never changed.';

CREATE TABLE ledger.evidence_file (
    lane integer NOT NULL,
    first_evidence_no bigint NOT NULL,
    last_evidence_no bigint NOT NULL,
    moved_at timestamp with time zone NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT evidence_file_numbers CHECK (((first_evidence_no >= 1) AND (last_evidence_no >= first_evidence_no))),
    CONSTRAINT evidence_file_path_absolute CHECK ((path ~~ '/%'::text))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.evidence_file IS 'The files that hold the packed payloads which `subledger evidence move` took out of ledger.evidence, one row each. Only the owner may insert; no digest covers it, because each payload in a file proves itself.';

COMMENT ON COLUMN ledger.evidence_file.first_evidence_no IS 'The first payload in it. The files of a lane follow each other from 1, without a gap.';

COMMENT ON COLUMN ledger.evidence_file.last_evidence_no IS 'The last payload in it.';

COMMENT ON COLUMN ledger.evidence_file.moved_at IS 'The server''s clock; whole milliseconds.';

COMMENT ON COLUMN ledger.evidence_file.path IS 'Where it was written. SUBLEDGER_EVIDENCE_FOLDER names another folder for all files.';

CREATE TABLE ledger.evidence_segment (
    lane integer NOT NULL,
    segment_key bytea NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT evidence_segment_key_size CHECK ((octet_length(segment_key) = 16))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.evidence_segment IS 'Parts of payloads that repeat (JWS headers with their certificates), each kept once a lane.';

COMMENT ON COLUMN ledger.evidence_segment.segment_key IS 'First 16 bytes of the SHA-256 of the segment as it stood in the payload.';

COMMENT ON COLUMN ledger.evidence_segment.body IS 'The segment, packed like evidence.body.';

CREATE TABLE ledger.ingestion (
    lane integer NOT NULL,
    run_id uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    payloads bigint NOT NULL,
    rejected bigint NOT NULL,
    appended bigint NOT NULL,
    duplicates bigint NOT NULL,
    restored bigint NOT NULL,
    streams bigint NOT NULL,
    unchanged bigint NOT NULL,
    was_stopped boolean NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    rejected_by_reason jsonb NOT NULL,
    CONSTRAINT ingestion_counts_below_a_trillion CHECK (((payloads < '1000000000000'::bigint) AND (appended < '1000000000000'::bigint) AND (duplicates < '1000000000000'::bigint) AND (streams < '1000000000000'::bigint))),
    CONSTRAINT ingestion_counts_from_zero CHECK (((rejected >= 0) AND (payloads >= rejected) AND (appended >= 0) AND (duplicates >= 0) AND (restored >= 0) AND (restored <= (appended + duplicates)) AND (streams >= 0) AND ((unchanged >= 0) AND (unchanged <= payloads)))),
    CONSTRAINT ingestion_ends_after_its_start CHECK ((finished_at >= started_at)),
    CONSTRAINT ingestion_lane_is_of_run CHECK ((lane = ledger.lane_of((run_id)::text))),
    CONSTRAINT ingestion_reasons_are_counts CHECK (((jsonb_typeof(rejected_by_reason) = 'object'::text) AND (NOT jsonb_path_exists(rejected_by_reason, '$.*?((@.type() != "number" || @ < 0) || @ >= 1000000000000)'::jsonpath))))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.ingestion IS 'One row for each ingest run and source, written at its end, also when it was stopped. A run that dies leaves none; its facts are in the log all the same.';

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

CREATE TABLE ledger.lane (
    lane integer NOT NULL
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.lane IS 'One row a lane, never changed. A writer that keeps losing the race for the next offset locks its row for one turn.';

CREATE TABLE ledger.ledger_config (
    singleton boolean DEFAULT true NOT NULL,
    ledger_id uuid NOT NULL,
    lanes integer NOT NULL,
    format_version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_config_is_one_row CHECK (singleton),
    CONSTRAINT ledger_config_lanes_power_of_two CHECK ((((lanes >= 1) AND (lanes <= 1024)) AND ((lanes & (lanes - 1)) = 0)))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.ledger_config IS 'One row, written once: what can never change about this ledger. Every lane''s chain of digests starts from it.';

COMMENT ON COLUMN ledger.ledger_config.ledger_id IS 'Identifies this ledger; a restored copy keeps it.';

COMMENT ON COLUMN ledger.ledger_config.lanes IS 'Number of lanes; a power of two; fixed for ever, because offsets are.';

COMMENT ON COLUMN ledger.ledger_config.format_version IS 'Version of the canonical bytes with which the chains start (schema/README.md); commit.format says which a commit has.';

CREATE TABLE ledger.migration (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.migration IS 'The migrations that were applied, oldest first.';

COMMENT ON COLUMN ledger.migration.checksum IS 'SHA-256 of the file as it was applied: a migration that has shipped is never edited.';

CREATE TABLE ledger.rejection (
    lane integer NOT NULL,
    byte_count integer NOT NULL,
    received_at timestamp with time zone NOT NULL,
    payload_digest bytea NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    location text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL COLLATE pg_catalog."C",
    body bytea,
    run_started_at timestamp with time zone NOT NULL,
    input_no bigint NOT NULL,
    is_imported boolean NOT NULL,
    standing text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT rejection_body_capped CHECK ((octet_length(body) <= 1048576)),
    CONSTRAINT rejection_byte_count_from_zero CHECK ((byte_count >= 0)),
    CONSTRAINT rejection_input_no_from_one CHECK ((input_no >= 1)),
    CONSTRAINT rejection_lane_is_of_payload CHECK ((lane = ledger.lane_of(encode(payload_digest, 'hex'::text)))),
    CONSTRAINT rejection_payload_digest_size CHECK ((octet_length(payload_digest) = 32)),
    CONSTRAINT rejection_standing_known CHECK ((standing = ANY (ARRAY['proven'::text, 'chained'::text, 'unproven'::text])))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.rejection IS 'Payloads that were refused, each once a reason, as far as the limits of their standing allow. Outside of the chain: input nobody has to believe. The owner may delete rows, the writer may only insert, and delete through ledger.forget_rejections.';

COMMENT ON COLUMN ledger.rejection.lane IS 'lane_of(payload_digest in hexadecimal): it belongs to no subscription.';

COMMENT ON COLUMN ledger.rejection.byte_count IS 'Length of the payload as it arrived, whatever of it is kept.';

COMMENT ON COLUMN ledger.rejection.received_at IS 'Our clock: when it was refused for this reason the first time; whole milliseconds.';

COMMENT ON COLUMN ledger.rejection.payload_digest IS 'SHA-256 of the exact bytes that arrived.';

COMMENT ON COLUMN ledger.rejection.reason IS 'The machine word of the refusal (subledger rejections --reason).';

COMMENT ON COLUMN ledger.rejection.source IS 'The channel it came by the first time, as the operator names it.';

COMMENT ON COLUMN ledger.rejection.location IS 'Where it was found the first time: a path, with its number where there are several; empty where nobody said.';

COMMENT ON COLUMN ledger.rejection.message IS 'The reason for people, without control characters, cut to a limit.';

COMMENT ON COLUMN ledger.rejection.body IS 'Its first MiB, every password blanked; NULL where a secret could not be told from the rest, and where the bodies of its standing had reached their limit (the message says so).';

COMMENT ON COLUMN ledger.rejection.run_started_at IS 'Our clock: when the run began that refused it for this reason the first time; of a payload that came alone, when it arrived.';

COMMENT ON COLUMN ledger.rejection.input_no IS 'Its place in the input of that run, from 1: many are verified at once, so received_at does not order them.';

COMMENT ON COLUMN ledger.rejection.is_imported IS 'Whether it came by an import of files, and not live, the first time; its evidence says the same when it is taken in.';

COMMENT ON COLUMN ledger.rejection.standing IS 'proven: signed under a pinned root, or sent with a token or by the operator. chained: with a certificate chain that ends at a pinned root. unproven: neither; deleted when it is old (ledger.forget_rejections).';

CREATE TABLE ledger.rejection_taken (
    lane integer NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    payload_digest bytea NOT NULL,
    CONSTRAINT rejection_taken_lane_is_of_payload CHECK ((lane = ledger.lane_of(encode(payload_digest, 'hex'::text)))),
    CONSTRAINT rejection_taken_payload_digest_size CHECK ((octet_length(payload_digest) = 32))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.rejection_taken IS 'Payloads that were refused and then taken in. Outside of the chain, like ledger.rejection; the owner may delete rows, the writer may only insert.';

COMMENT ON COLUMN ledger.rejection_taken.lane IS 'lane_of(payload_digest in hexadecimal), as in ledger.rejection.';

COMMENT ON COLUMN ledger.rejection_taken.taken_at IS 'Our clock: when it had been taken in the first time after it was refused; whole milliseconds.';

COMMENT ON COLUMN ledger.rejection_taken.payload_digest IS 'The digest under which ledger.rejection has it.';

CREATE TABLE ledger.repair (
    lane integer NOT NULL,
    repaired_at timestamp with time zone NOT NULL,
    repair_id uuid NOT NULL,
    relation text NOT NULL COLLATE pg_catalog."C",
    stated_by text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    removed jsonb NOT NULL,
    CONSTRAINT repair_reason_stated CHECK (((reason <> ''::text) AND (stated_by <> ''::text)))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.repair IS 'What `subledger repair` removed: one row for each removed row. Outside of the chain, like the rows themselves; only the owner may insert.';

COMMENT ON COLUMN ledger.repair.lane IS 'The lane of the removed row.';

COMMENT ON COLUMN ledger.repair.repaired_at IS 'The server''s clock when it was removed; whole milliseconds.';

COMMENT ON COLUMN ledger.repair.repair_id IS 'A random number of this row.';

COMMENT ON COLUMN ledger.repair.relation IS 'The table that it was removed from, without its schema.';

COMMENT ON COLUMN ledger.repair.stated_by IS 'Who repaired.';

COMMENT ON COLUMN ledger.repair.reason IS 'Why the row could be removed.';

COMMENT ON COLUMN ledger.repair.removed IS 'The row as it was.';

CREATE TABLE ledger.root_certificate (
    lane integer NOT NULL,
    root_key integer NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT root_certificate_digest_size CHECK ((octet_length(digest) = 32)),
    CONSTRAINT root_certificate_key_is_of_digest CHECK ((root_key = ((('x'::text || encode(substr(digest, 1, 4), 'hex'::text)))::bit(32))::integer))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE ledger.root_certificate IS 'The root certificates that the signatures of payloads lead to, each once a lane.';

COMMENT ON COLUMN ledger.root_certificate.root_key IS 'First 4 bytes of digest.';

COMMENT ON COLUMN ledger.root_certificate.digest IS 'SHA-256 of the certificate in DER. The records of evidence cover it.';

CREATE TABLE operation.alert (
    alert_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    CONSTRAINT alert_ends_after_start CHECK ((resolved_at >= raised_at))
);

COMMENT ON TABLE operation.alert IS 'What an operator should look at: one row for each time that it began. Not part of the log.';

COMMENT ON COLUMN operation.alert.subject IS 'What it is about: an environment, a consumer, a lane; empty for the whole ledger.';

COMMENT ON COLUMN operation.alert.resolved_at IS 'When it was over; NULL while it lasts.';

CREATE TABLE operation.apple_order (
    lane integer NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    order_id text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT apple_order_id_is_upper_case CHECK ((order_id ~ '^[0-9A-Z]{1,32}$'::text))
);

COMMENT ON TABLE operation.apple_order IS 'The order ids that `subledger import` asked Apple about: one row for each subscription in the order. Not part of the log; a lost row costs one request.';

COMMENT ON COLUMN operation.apple_order.order_id IS 'The order id of the invoice, in upper case as Apple writes it.';

CREATE TABLE operation.audit (
    asked_at timestamp with time zone NOT NULL,
    request_id text NOT NULL COLLATE pg_catalog."C",
    token text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    question text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    kept_until timestamp with time zone NOT NULL,
    CONSTRAINT audit_kept_for_some_time CHECK ((kept_until > asked_at))
);

COMMENT ON TABLE operation.audit IS 'Who asked about whom over HTTP: one row for each question and upload, written before it is answered. Not part of the log.';

COMMENT ON COLUMN operation.audit.asked_at IS 'The service''s clock when the request was accepted.';

COMMENT ON COLUMN operation.audit.request_id IS 'The id of the request in the log of the service.';

COMMENT ON COLUMN operation.audit.token IS 'The name of the token.';

COMMENT ON COLUMN operation.audit.address IS 'The address of the client; empty where it is not known.';

COMMENT ON COLUMN operation.audit.question IS 'What was asked: the name of the question, or upload.';

COMMENT ON COLUMN operation.audit.subject IS 'The id that was asked about, as it stood in the request.';

COMMENT ON COLUMN operation.audit.kept_until IS 'From when on ledger.forget_audits removes the row.';

CREATE TABLE operation.backfill (
    environment text NOT NULL COLLATE pg_catalog."C",
    since_ms bigint NOT NULL,
    is_complete boolean NOT NULL,
    reached_ms bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT backfill_reached_in_span CHECK ((reached_ms >= since_ms))
);

COMMENT ON TABLE operation.backfill IS 'The last backfills of each environment, so that one that was interrupted can go on. A lost row costs requests, nothing else.';

COMMENT ON COLUMN operation.backfill.since_ms IS 'Where its span begins, in milliseconds.';

COMMENT ON COLUMN operation.backfill.is_complete IS 'Whether every customer is asked about, and not only those whose charge is due.';

COMMENT ON COLUMN operation.backfill.reached_ms IS 'Up to where notifications were asked for, in milliseconds.';

COMMENT ON COLUMN operation.backfill.started_at IS 'When it was begun first, on the server''s clock: whoever was answered since is done (poll.answered_at).';

COMMENT ON COLUMN operation.backfill.finished_at IS 'When everything was asked; NULL where an interrupted one can go on.';

CREATE TABLE operation.consumer (
    name text NOT NULL COLLATE pg_catalog."C",
    cursor text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    acknowledged_at timestamp with time zone NOT NULL,
    stream text DEFAULT 'effects'::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT consumer_name_length CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 200)))
);

COMMENT ON TABLE operation.consumer IS 'The named readers of effects or events: one row each. Not part of the log; a reader whose row is deleted begins again.';

COMMENT ON COLUMN operation.consumer.cursor IS 'The cursor of the last effect or event that it acknowledged; empty at the beginning of the log.';

COMMENT ON COLUMN operation.consumer.holder IS 'A random word of the process that last took the name. Only that process moves the cursor.';

COMMENT ON COLUMN operation.consumer.acknowledged_at IS 'When the cursor last moved, on the server''s clock.';

COMMENT ON COLUMN operation.consumer.stream IS 'What it reads: effects or events.';

CREATE TABLE operation.consumption (
    lane integer NOT NULL,
    lane_offset bigint NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    retry_at timestamp with time zone,
    attempts integer NOT NULL,
    error_code bigint,
    environment text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    note text NOT NULL COLLATE pg_catalog."C",
    body text COLLATE pg_catalog."C",
    CONSTRAINT consumption_outcome_known CHECK ((outcome = ANY (ARRAY['open'::text, 'sending'::text, 'failed'::text, 'sent'::text, 'notConsented'::text, 'notNeeded'::text, 'refused'::text, 'tooLate'::text, 'superseded'::text]))),
    CONSTRAINT consumption_sends_a_body CHECK (((outcome <> ALL (ARRAY['sending'::text, 'sent'::text])) OR (body IS NOT NULL)))
);

COMMENT ON TABLE operation.consumption IS 'Apple''s requests for consumption information and how they were answered: one row a request. Not part of the log; if a row of a request that is still due is lost, it is answered again.';

COMMENT ON COLUMN operation.consumption.lane_offset IS 'The position of the request, a notification of kind CONSUMPTION_REQUEST.';

COMMENT ON COLUMN operation.consumption.requested_at IS 'Apple''s clock: when it signed the request.';

COMMENT ON COLUMN operation.consumption.due_at IS 'Until when Apple takes an answer: twelve hours later.';

COMMENT ON COLUMN operation.consumption.decided_at IS 'When the outcome was recorded; NULL before the first one.';

COMMENT ON COLUMN operation.consumption.retry_at IS 'Not before this time is it tried again; NULL unless the last attempt failed.';

COMMENT ON COLUMN operation.consumption.attempts IS 'How often an answer was attempted.';

COMMENT ON COLUMN operation.consumption.error_code IS 'Apple''s error code of the last attempt; NULL if it gave none.';

COMMENT ON COLUMN operation.consumption.transaction_id IS 'The transaction whose refund the customer asks for.';

COMMENT ON COLUMN operation.consumption.outcome IS 'open, sending, failed (and tried again); final: sent, notConsented, notNeeded, refused (by Apple), tooLate, superseded (by a newer request before it was answered).';

COMMENT ON COLUMN operation.consumption.note IS 'Why, in words; empty if the outcome says it.';

COMMENT ON COLUMN operation.consumption.body IS 'The body for Apple, from just before it is first sent; NULL if nothing was sent.';

CREATE TABLE operation.currency_rate (
    base_currency text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    revision integer NOT NULL,
    rate numeric(20,12) NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT currency_rate_currency_is_iso_4217 CHECK (((base_currency ~ '^[A-Z]{3}$'::text) AND (currency ~ '^[A-Z]{3}$'::text))),
    CONSTRAINT currency_rate_day_has_four_digits CHECK (((day >= '0001-01-01'::date) AND (day <= '9999-12-31'::date))),
    CONSTRAINT currency_rate_is_a_number CHECK ((rate <> 'NaN'::numeric)),
    CONSTRAINT currency_rate_is_of_two CHECK ((base_currency <> currency)),
    CONSTRAINT currency_rate_is_positive CHECK ((rate > (0)::numeric)),
    CONSTRAINT currency_rate_revision_counts_from_one CHECK ((revision >= 1))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE operation.currency_rate IS 'Exchange rates that the operator imported: one row a pair of currencies, day and revision. Append-only; of several revisions the last one that was recorded by then holds.';

COMMENT ON COLUMN operation.currency_rate.base_currency IS 'ISO 4217 code of the currency that amounts are converted into.';

COMMENT ON COLUMN operation.currency_rate.currency IS 'ISO 4217 code of the currency that is converted.';

COMMENT ON COLUMN operation.currency_rate.day IS 'The first day, UTC, for which the rate holds: until the next day that has one, and no longer than a report allows.';

COMMENT ON COLUMN operation.currency_rate.revision IS 'Counts up, from 1, when another rate is imported for the same day.';

COMMENT ON COLUMN operation.currency_rate.rate IS 'Units of base_currency for one unit of currency.';

COMMENT ON COLUMN operation.currency_rate.recorded_at IS 'Our clock: when it was imported; whole milliseconds.';

CREATE TABLE operation.delivery (
    webhook text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    lane integer,
    commit_no bigint,
    environment text COLLATE pg_catalog."C",
    original_transaction_id text COLLATE pg_catalog."C",
    ordinal integer,
    first_sent_at timestamp with time zone NOT NULL,
    attempts integer NOT NULL,
    next_attempt_at timestamp with time zone,
    failure text NOT NULL
);

COMMENT ON TABLE operation.delivery IS 'Effects and alerts that a webhook has not received yet, or that were given up. Not part of the log.';

COMMENT ON COLUMN operation.delivery.message_id IS 'The header webhook-id: the id of the effect, or alert: and the id of the alert.';

COMMENT ON COLUMN operation.delivery.commit_no IS 'The commit of the effect; NULL for an alert, as all that names an effect.';

COMMENT ON COLUMN operation.delivery.ordinal IS 'Which effect of the commit for this subscription, from 1.';

COMMENT ON COLUMN operation.delivery.attempts IS 'How often it was sent.';

COMMENT ON COLUMN operation.delivery.next_attempt_at IS 'When it is sent again; NULL if it was given up (a dead letter).';

COMMENT ON COLUMN operation.delivery.failure IS 'What the last attempt came to; empty if it waits for an earlier effect.';

CREATE TABLE operation.lease (
    lane integer NOT NULL,
    folds text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE operation.lease IS 'Which process follows a lane; it may be taken over once it has expired.';

COMMENT ON COLUMN operation.lease.folds IS 'Names and versions of the folds whose tables it brings on.';

CREATE TABLE operation.lookup_key (
    key bigint NOT NULL,
    lane integer NOT NULL
);

COMMENT ON TABLE operation.lookup_key IS 'The lanes of a distributed ledger that may have an id: a customer, a token, a transaction, a receipt. Not part of the log: migrate fills it from there.';

COMMENT ON COLUMN operation.lookup_key.key IS 'The first eight bytes of the SHA-256 of the id as UTF-8; of a receipt, of its own bytes.';

CREATE TABLE operation.lookup_lane (
    lane integer NOT NULL,
    timeline text NOT NULL COLLATE pg_catalog."C",
    commit_no bigint NOT NULL,
    is_complete boolean NOT NULL,
    digest bytea NOT NULL,
    announced bytea[] NOT NULL,
    CONSTRAINT lookup_lane_commit_from_zero CHECK ((commit_no >= 0))
);

COMMENT ON TABLE operation.lookup_lane IS 'The lanes of a distributed ledger whose ids are in operation.lookup_key. If a row is lost, look-ups read that lane until migrate makes the row again.';

COMMENT ON COLUMN operation.lookup_lane.timeline IS 'The timeline of the coordinator''s WAL when the ids of the lane were listed, or compared later; empty until then. Look-ups trust the row only on that timeline.';

COMMENT ON COLUMN operation.lookup_lane.commit_no IS 'The number of the newest commit that an append was based on.';

COMMENT ON COLUMN operation.lookup_lane.is_complete IS 'Whether every commit was announced since migrate began to list the ids of the lane.';

COMMENT ON COLUMN operation.lookup_lane.digest IS 'The digest of that commit; of the genesis, before the first one.';

COMMENT ON COLUMN operation.lookup_lane.announced IS 'The digests of the commits that were announced to follow it; one of them may have been made.';

CREATE TABLE operation.newest_signature (
    lane integer NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    lane_offset bigint NOT NULL,
    as_of_ms bigint NOT NULL,
    CONSTRAINT newest_signature_offset_from_one CHECK ((lane_offset >= 1))
);

COMMENT ON TABLE operation.newest_signature IS 'The newest instant that Apple signed: one row a lane and environment. All rows of a lane hold for the same part of the log.';

COMMENT ON COLUMN operation.newest_signature.lane_offset IS 'The last event that was looked at, of any environment.';

COMMENT ON COLUMN operation.newest_signature.as_of_ms IS 'The greatest ledger.event.as_of_ms of transactions, renewals and notifications up to there.';

CREATE TABLE operation.poll (
    lane integer NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    continuation text COLLATE pg_catalog."C",
    answered_at timestamp with time zone,
    holder text COLLATE pg_catalog."C",
    expires_at timestamp with time zone,
    CONSTRAINT poll_lease_is_whole CHECK (((holder IS NULL) = (expires_at IS NULL)))
);

COMMENT ON TABLE operation.poll IS 'What Apple was asked: one row for each subscription that was, and one without an id for the notifications of an environment. Lost rows cost requests, nothing else.';

COMMENT ON COLUMN operation.poll.continuation IS 'Where the next question continues: the revision of the transaction history, or of notifications the instant up to which they were asked for, in milliseconds.';

COMMENT ON COLUMN operation.poll.answered_at IS 'When Apple answered last, on the server''s clock.';

COMMENT ON COLUMN operation.poll.holder IS 'Which poller is asking now; NULL where none is. It may be taken over once it has expired.';

CREATE TABLE operation.proceeds_rate (
    storefront text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    revision integer NOT NULL,
    commission_percent numeric(14,12) NOT NULL,
    commission_after_year_percent numeric(14,12) NOT NULL,
    tax_percent numeric(14,12) NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT proceeds_rate_day_has_four_digits CHECK (((day >= '0001-01-01'::date) AND (day <= '9999-12-31'::date))),
    CONSTRAINT proceeds_rate_leaves_something CHECK (((commission_percent >= (0)::numeric) AND (commission_percent < (100)::numeric) AND (commission_after_year_percent >= (0)::numeric) AND (commission_after_year_percent < (100)::numeric) AND (tax_percent >= (0)::numeric) AND (tax_percent < (100)::numeric))),
    CONSTRAINT proceeds_rate_revision_counts_from_one CHECK ((revision >= 1)),
    CONSTRAINT proceeds_rate_storefront_is_iso_3166 CHECK ((storefront ~ '^([A-Z]{3}|[*])$'::text))
)
WITH (autovacuum_freeze_min_age='0', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

COMMENT ON TABLE operation.proceeds_rate IS 'Rates of commission and tax that the operator imported: one row a storefront, day and revision. Append-only; of several revisions the last one that was recorded by then holds.';

COMMENT ON COLUMN operation.proceeds_rate.storefront IS 'Country of the storefront, ISO 3166-1 alpha-3; * for all storefronts without a rate of their own.';

COMMENT ON COLUMN operation.proceeds_rate.day IS 'The first day, UTC, for whose purchases it holds: until the next day that has one.';

COMMENT ON COLUMN operation.proceeds_rate.revision IS 'Counts up, from 1, when another rate is imported for the same day.';

COMMENT ON COLUMN operation.proceeds_rate.commission_percent IS 'What Apple keeps of the price without tax, in percent.';

COMMENT ON COLUMN operation.proceeds_rate.commission_after_year_percent IS 'The same for a subscription after a year of paid service.';

COMMENT ON COLUMN operation.proceeds_rate.tax_percent IS 'The share of the price that is tax, in percent.';

COMMENT ON COLUMN operation.proceeds_rate.recorded_at IS 'Our clock: when it was imported; whole milliseconds.';

CREATE TABLE operation.relay (
    relay_id uuid NOT NULL,
    target text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    environment text COLLATE pg_catalog."C",
    original_transaction_id text COLLATE pg_catalog."C",
    received_at timestamp with time zone NOT NULL,
    attempts integer NOT NULL,
    next_attempt_at timestamp with time zone,
    failure text NOT NULL
);

COMMENT ON TABLE operation.relay IS 'Notifications that are still to be forwarded. Not part of the log.';

COMMENT ON COLUMN operation.relay.target IS 'The URL to which it is sent.';

COMMENT ON COLUMN operation.relay.body IS 'What Apple sent, byte for byte.';

COMMENT ON COLUMN operation.relay.original_transaction_id IS 'The subscription, so that an erasure finds it; NULL if it is about none.';

COMMENT ON COLUMN operation.relay.attempts IS 'How often it was sent.';

COMMENT ON COLUMN operation.relay.next_attempt_at IS 'When it is sent again; NULL if it was given up.';

COMMENT ON COLUMN operation.relay.failure IS 'What the last attempt came to.';

CREATE TABLE operation.token (
    name text NOT NULL COLLATE pg_catalog."C",
    roles text[] NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    expires_at timestamp with time zone,
    requests_per_minute integer,
    CONSTRAINT token_digest_is_sha256 CHECK ((octet_length(digest) = 32)),
    CONSTRAINT token_rate_positive CHECK ((requests_per_minute > 0)),
    CONSTRAINT token_role_known CHECK (((cardinality(roles) > 0) AND (roles <@ '{ingest,support,finance,analyst,operator,admin}'::text[])))
);

COMMENT ON TABLE operation.token IS 'Who may ask the HTTP service: one row for each token. A revoked one stays, so that its name is never given again.';

COMMENT ON COLUMN operation.token.name IS 'The name that stands in the token and in the log of requests.';

COMMENT ON COLUMN operation.token.roles IS 'What it may do: ingest, support, finance, analyst, operator, admin.';

COMMENT ON COLUMN operation.token.digest IS 'SHA-256 of the token. The token itself, 256 random bits, is printed once and kept nowhere.';

COMMENT ON COLUMN operation.token.last_used_at IS 'When it was used last, to within a minute.';

COMMENT ON COLUMN operation.token.expires_at IS 'From when on it is refused, on the service''s clock; NULL for never.';

COMMENT ON COLUMN operation.token.requests_per_minute IS 'The most requests that one service answers in a minute; NULL for any number.';

CREATE TABLE operation.webhook (
    name text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL COLLATE pg_catalog."C",
    effects text[] NOT NULL,
    environments text[] NOT NULL,
    bundle_ids text[] NOT NULL,
    hears_alerts boolean NOT NULL,
    allows_private boolean NOT NULL,
    secrets text[] NOT NULL,
    older_sign_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    paused_at timestamp with time zone,
    pause_reason text,
    CONSTRAINT webhook_format_known CHECK ((format = ANY (ARRAY['subledger'::text, 'revenuecat'::text]))),
    CONSTRAINT webhook_has_secret CHECK ((cardinality(secrets) > 0)),
    CONSTRAINT webhook_pause_has_reason CHECK (((paused_at IS NULL) = (pause_reason IS NULL)))
);

COMMENT ON TABLE operation.webhook IS 'Where effects are sent: one row for each webhook. Not part of the log.';

COMMENT ON COLUMN operation.webhook.effects IS 'The effects that it receives; empty for all.';

COMMENT ON COLUMN operation.webhook.environments IS 'The environments; empty for all.';

COMMENT ON COLUMN operation.webhook.bundle_ids IS 'The bundle ids of the apps; empty for all.';

COMMENT ON COLUMN operation.webhook.hears_alerts IS 'Whether it also receives alerts.';

COMMENT ON COLUMN operation.webhook.allows_private IS 'Whether it may be at a private address, and without TLS.';

COMMENT ON COLUMN operation.webhook.secrets IS 'The secrets that sign, newest first: whsec_ for HMAC-SHA256, whsk_ for Ed25519.';

COMMENT ON COLUMN operation.webhook.older_sign_until IS 'Until when secrets other than the first one also sign.';

COMMENT ON COLUMN operation.webhook.paused_at IS 'Since when nothing is sent; NULL if it is active.';

ALTER TABLE ONLY ledger.catalog
    ADD CONSTRAINT catalog_pkey PRIMARY KEY (lane, version);

ALTER TABLE ONLY ledger.checkpoint
    ADD CONSTRAINT checkpoint_pkey PRIMARY KEY (lane, digest);

ALTER TABLE ONLY ledger.commit
    ADD CONSTRAINT commit_pkey PRIMARY KEY (lane, commit_no);

ALTER TABLE ONLY ledger.confirmation
    ADD CONSTRAINT confirmation_pkey PRIMARY KEY (lane, environment, original_transaction_id, as_of_ms, commit_no);

ALTER TABLE ONLY ledger.event
    ADD CONSTRAINT event_fact_unique UNIQUE (lane, original_transaction_id, fact_key);

ALTER TABLE ONLY ledger.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (lane, lane_offset);

ALTER TABLE ONLY ledger.evidence_dictionary
    ADD CONSTRAINT evidence_dictionary_pkey PRIMARY KEY (version);

ALTER TABLE ONLY ledger.evidence_file
    ADD CONSTRAINT evidence_file_pkey PRIMARY KEY (lane, first_evidence_no);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (lane, evidence_no);

ALTER TABLE ONLY ledger.evidence_segment
    ADD CONSTRAINT evidence_segment_pkey PRIMARY KEY (lane, segment_key);

ALTER TABLE ONLY ledger.ingestion
    ADD CONSTRAINT ingestion_pkey PRIMARY KEY (lane, run_id, source);

ALTER TABLE ONLY ledger.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (lane);

ALTER TABLE ONLY ledger.ledger_config
    ADD CONSTRAINT ledger_config_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY ledger.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);

ALTER TABLE ONLY ledger.rejection
    ADD CONSTRAINT rejection_pkey PRIMARY KEY (lane, payload_digest, reason);

ALTER TABLE ONLY ledger.rejection_taken
    ADD CONSTRAINT rejection_taken_pkey PRIMARY KEY (lane, payload_digest);

ALTER TABLE ONLY ledger.repair
    ADD CONSTRAINT repair_pkey PRIMARY KEY (lane, repair_id);

ALTER TABLE ONLY ledger.root_certificate
    ADD CONSTRAINT root_certificate_pkey PRIMARY KEY (lane, root_key);

ALTER TABLE ONLY operation.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (alert_id);

ALTER TABLE ONLY operation.apple_order
    ADD CONSTRAINT apple_order_pkey PRIMARY KEY (lane, environment, original_transaction_id, order_id);

ALTER TABLE ONLY operation.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (asked_at, request_id);

ALTER TABLE ONLY operation.backfill
    ADD CONSTRAINT backfill_pkey PRIMARY KEY (environment, is_complete);

ALTER TABLE ONLY operation.consumer
    ADD CONSTRAINT consumer_pkey PRIMARY KEY (name);

ALTER TABLE ONLY operation.consumption
    ADD CONSTRAINT consumption_pkey PRIMARY KEY (lane, lane_offset);

ALTER TABLE ONLY operation.currency_rate
    ADD CONSTRAINT currency_rate_pkey PRIMARY KEY (base_currency, currency, day, revision);

ALTER TABLE ONLY operation.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (webhook, message_id);

ALTER TABLE ONLY operation.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (lane, folds);

ALTER TABLE ONLY operation.lookup_key
    ADD CONSTRAINT lookup_key_pkey PRIMARY KEY (key, lane);

ALTER TABLE ONLY operation.lookup_lane
    ADD CONSTRAINT lookup_lane_pkey PRIMARY KEY (lane);

ALTER TABLE ONLY operation.newest_signature
    ADD CONSTRAINT newest_signature_pkey PRIMARY KEY (lane, environment);

ALTER TABLE ONLY operation.poll
    ADD CONSTRAINT poll_pkey PRIMARY KEY (lane, environment, original_transaction_id);

ALTER TABLE ONLY operation.proceeds_rate
    ADD CONSTRAINT proceeds_rate_pkey PRIMARY KEY (storefront, day, revision);

ALTER TABLE ONLY operation.relay
    ADD CONSTRAINT relay_pkey PRIMARY KEY (relay_id);

ALTER TABLE ONLY operation.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (name);

ALTER TABLE ONLY operation.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (name);

CREATE INDEX checkpoint_taken_at ON ledger.checkpoint USING btree (taken_at, digest);

CREATE INDEX confirmation_commit ON ledger.confirmation USING btree (lane, commit_no);

CREATE INDEX confirmation_transaction_ids ON ledger.confirmation USING gin (transaction_ids) WHERE (transaction_ids IS NOT NULL);

CREATE INDEX event_app_account_token ON ledger.event USING btree (app_account_token) WHERE (app_account_token IS NOT NULL);

CREATE INDEX event_app_transaction_id ON ledger.event USING btree (app_transaction_id) WHERE (app_transaction_id IS NOT NULL);

CREATE INDEX event_continuation ON ledger.event USING btree (ledger.content_text(content, 24) COLLATE "C") WHERE ((substr(content, 2, 1) = '\x01'::bytea) AND (POSITION(('\x18'::bytea) IN (content)) > 0) AND (ledger.content_text(content, 24) IS NOT NULL));

CREATE INDEX event_customer_id ON ledger.event USING btree (customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX event_erasure ON ledger.event USING btree (lane, original_transaction_id, environment) WHERE (kind = 'erasure'::text);

CREATE INDEX event_transaction_id ON ledger.event USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);

CREATE INDEX event_web_order_line_item_id ON ledger.event USING btree (web_order_line_item_id) WHERE (web_order_line_item_id IS NOT NULL);

CREATE INDEX evidence_digest ON ledger.evidence USING btree (substr(digest, 1, 7));

CREATE INDEX rejection_in_order ON ledger.rejection USING btree (run_started_at, input_no);

CREATE INDEX apple_order_by_id ON operation.apple_order USING btree (order_id);

CREATE INDEX audit_kept_until ON operation.audit USING btree (kept_until);

CREATE INDEX audit_subject ON operation.audit USING btree (subject, asked_at);

CREATE INDEX consumption_of_subscription ON operation.consumption USING btree (lane, original_transaction_id);

CREATE INDEX consumption_waiting ON operation.consumption USING btree (requested_at) WHERE (outcome = ANY (ARRAY['open'::text, 'sending'::text, 'failed'::text]));

CREATE INDEX relay_due ON operation.relay USING btree (target, next_attempt_at);

CREATE INDEX relay_subscription ON operation.relay USING btree (original_transaction_id);

CREATE TRIGGER append_only_chain BEFORE INSERT ON ledger.commit FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unchained();

ALTER TABLE ledger.commit ENABLE ALWAYS TRIGGER append_only_chain;

CREATE TRIGGER append_only_commit AFTER INSERT ON ledger.confirmation FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unaccounted('confirmation');

ALTER TABLE ledger.confirmation ENABLE ALWAYS TRIGGER append_only_commit;

CREATE TRIGGER append_only_insert AFTER INSERT ON ledger.confirmation FOR EACH ROW WHEN ((octet_length(new.salt) <> 16)) EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.confirmation ENABLE ALWAYS TRIGGER append_only_insert;

CREATE TRIGGER append_only_insert AFTER INSERT ON ledger.event FOR EACH ROW WHEN ((octet_length(new.salt) <> 16)) EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_insert;

CREATE TRIGGER append_only_insert AFTER INSERT ON ledger.evidence FOR EACH ROW WHEN ((new.digest IS NULL)) EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.evidence ENABLE ALWAYS TRIGGER append_only_insert;

CREATE TRIGGER append_only_proof AFTER INSERT ON ledger.event FOR EACH ROW WHEN ((new.kind = 'erasure'::text)) EXECUTE FUNCTION ledger.refuse_unproven('event');

ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_proof;

CREATE TRIGGER append_only_proof AFTER INSERT ON ledger.evidence FOR EACH ROW WHEN ((new.body IS NULL)) EXECUTE FUNCTION ledger.refuse_unproven('evidence');

ALTER TABLE ledger.evidence ENABLE ALWAYS TRIGGER append_only_proof;

CREATE TRIGGER append_only_row BEFORE UPDATE ON ledger.confirmation FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unless_blanked('confirmation');

ALTER TABLE ledger.confirmation ENABLE ALWAYS TRIGGER append_only_row;

CREATE TRIGGER append_only_row BEFORE UPDATE ON ledger.event FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unless_blanked('event');

ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_row;

CREATE TRIGGER append_only_row BEFORE UPDATE ON ledger.evidence FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unless_blanked('evidence');

ALTER TABLE ledger.evidence ENABLE ALWAYS TRIGGER append_only_row;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.catalog FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.catalog ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.checkpoint FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.checkpoint ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.commit FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.commit ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.confirmation FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.confirmation ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.event FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.evidence FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.evidence ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.evidence_dictionary FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.evidence_dictionary ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.evidence_file FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.evidence_file ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.evidence_segment FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.evidence_segment ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.ingestion FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.ingestion ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.lane FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.lane ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.ledger_config FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.ledger_config ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.migration FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.migration ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE UPDATE ON ledger.rejection FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.rejection ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE UPDATE ON ledger.rejection_taken FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.rejection_taken ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE UPDATE ON ledger.repair FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.repair ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.root_certificate FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ledger.root_certificate ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_clock BEFORE INSERT ON operation.currency_rate FOR EACH ROW EXECUTE FUNCTION ledger.refuse_other_clock();

ALTER TABLE operation.currency_rate ENABLE ALWAYS TRIGGER append_only_clock;

CREATE TRIGGER append_only_clock BEFORE INSERT ON operation.proceeds_rate FOR EACH ROW EXECUTE FUNCTION ledger.refuse_other_clock();

ALTER TABLE operation.proceeds_rate ENABLE ALWAYS TRIGGER append_only_clock;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON operation.currency_rate FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE operation.currency_rate ENABLE ALWAYS TRIGGER append_only_statement;

CREATE TRIGGER append_only_statement BEFORE DELETE OR UPDATE OR TRUNCATE ON operation.proceeds_rate FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE operation.proceeds_rate ENABLE ALWAYS TRIGGER append_only_statement;

GRANT USAGE ON SCHEMA ledger TO ledger_writer;
GRANT USAGE ON SCHEMA ledger TO ledger_reader;
GRANT USAGE ON SCHEMA ledger TO ledger_projector;

GRANT USAGE ON SCHEMA operation TO ledger_writer;
GRANT USAGE ON SCHEMA operation TO ledger_reader;
GRANT USAGE ON SCHEMA operation TO ledger_projector;

REVOKE ALL ON FUNCTION ledger.erase(erasure_lane integer, erasure_offset bigint, offsets bigint[], salts bytea[], contents bytea[], keys uuid[], commits bigint[], as_ofs bigint[], confirmation_salts bytea[], evidence_numbers bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION ledger.erase(erasure_lane integer, erasure_offset bigint, offsets bigint[], salts bytea[], contents bytea[], keys uuid[], commits bigint[], as_ofs bigint[], confirmation_salts bytea[], evidence_numbers bigint[]) TO ledger_eraser;

REVOKE ALL ON FUNCTION ledger.forget_audits() FROM PUBLIC;
GRANT ALL ON FUNCTION ledger.forget_audits() TO ledger_writer;

REVOKE ALL ON FUNCTION ledger.forget_rejections(days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION ledger.forget_rejections(days integer) TO ledger_writer;

GRANT SELECT,INSERT ON TABLE ledger.confirmation TO ledger_writer;
GRANT SELECT ON TABLE ledger.confirmation TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.catalog TO ledger_writer;
GRANT SELECT ON TABLE ledger.catalog TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.checkpoint TO ledger_writer;
GRANT SELECT ON TABLE ledger.checkpoint TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.commit TO ledger_writer;
GRANT SELECT ON TABLE ledger.commit TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.event TO ledger_writer;
GRANT SELECT ON TABLE ledger.event TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.evidence TO ledger_writer;
GRANT SELECT ON TABLE ledger.evidence TO ledger_reader;

GRANT SELECT ON TABLE ledger.evidence_dictionary TO ledger_writer;
GRANT SELECT ON TABLE ledger.evidence_dictionary TO ledger_reader;

GRANT SELECT ON TABLE ledger.evidence_file TO ledger_writer;
GRANT SELECT ON TABLE ledger.evidence_file TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.evidence_segment TO ledger_writer;
GRANT SELECT ON TABLE ledger.evidence_segment TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.ingestion TO ledger_writer;
GRANT SELECT ON TABLE ledger.ingestion TO ledger_reader;

GRANT SELECT ON TABLE ledger.lane TO ledger_writer;
GRANT SELECT ON TABLE ledger.lane TO ledger_reader;

GRANT UPDATE(lane) ON TABLE ledger.lane TO ledger_writer;

GRANT SELECT ON TABLE ledger.ledger_config TO ledger_writer;
GRANT SELECT ON TABLE ledger.ledger_config TO ledger_reader;

GRANT SELECT ON TABLE ledger.migration TO ledger_writer;
GRANT SELECT ON TABLE ledger.migration TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.rejection TO ledger_writer;
GRANT SELECT ON TABLE ledger.rejection TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.rejection_taken TO ledger_writer;
GRANT SELECT ON TABLE ledger.rejection_taken TO ledger_reader;

GRANT SELECT ON TABLE ledger.repair TO ledger_writer;
GRANT SELECT ON TABLE ledger.repair TO ledger_reader;

GRANT SELECT,INSERT ON TABLE ledger.root_certificate TO ledger_writer;
GRANT SELECT ON TABLE ledger.root_certificate TO ledger_reader;

GRANT SELECT,INSERT,UPDATE ON TABLE operation.alert TO ledger_writer;
GRANT SELECT ON TABLE operation.alert TO ledger_reader;

GRANT SELECT,INSERT ON TABLE operation.apple_order TO ledger_writer;
GRANT SELECT ON TABLE operation.apple_order TO ledger_reader;
GRANT DELETE ON TABLE operation.apple_order TO ledger_eraser;

GRANT SELECT,INSERT ON TABLE operation.audit TO ledger_writer;
GRANT SELECT ON TABLE operation.audit TO ledger_reader;

GRANT SELECT,INSERT,UPDATE ON TABLE operation.backfill TO ledger_writer;
GRANT SELECT ON TABLE operation.backfill TO ledger_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE operation.consumer TO ledger_writer;
GRANT SELECT ON TABLE operation.consumer TO ledger_reader;

GRANT SELECT,INSERT,UPDATE ON TABLE operation.consumption TO ledger_writer;
GRANT SELECT ON TABLE operation.consumption TO ledger_reader;
GRANT DELETE ON TABLE operation.consumption TO ledger_eraser;

GRANT SELECT,INSERT ON TABLE operation.currency_rate TO ledger_writer;
GRANT SELECT ON TABLE operation.currency_rate TO ledger_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE operation.delivery TO ledger_writer;
GRANT SELECT ON TABLE operation.delivery TO ledger_reader;

GRANT SELECT ON TABLE operation.lease TO ledger_writer;
GRANT SELECT ON TABLE operation.lease TO ledger_reader;
GRANT INSERT,DELETE,UPDATE ON TABLE operation.lease TO ledger_projector;

GRANT SELECT,INSERT ON TABLE operation.lookup_key TO ledger_writer;
GRANT SELECT ON TABLE operation.lookup_key TO ledger_reader;
GRANT DELETE ON TABLE operation.lookup_key TO ledger_eraser;

GRANT SELECT,UPDATE ON TABLE operation.lookup_lane TO ledger_writer;
GRANT SELECT ON TABLE operation.lookup_lane TO ledger_reader;

GRANT SELECT ON TABLE operation.newest_signature TO ledger_writer;
GRANT SELECT ON TABLE operation.newest_signature TO ledger_reader;
GRANT INSERT,DELETE,UPDATE ON TABLE operation.newest_signature TO ledger_projector;

GRANT SELECT,INSERT,UPDATE ON TABLE operation.poll TO ledger_writer;
GRANT SELECT ON TABLE operation.poll TO ledger_reader;

GRANT SELECT,INSERT ON TABLE operation.proceeds_rate TO ledger_writer;
GRANT SELECT ON TABLE operation.proceeds_rate TO ledger_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE operation.relay TO ledger_writer;
GRANT SELECT ON TABLE operation.relay TO ledger_reader;

GRANT SELECT ON TABLE operation.token TO ledger_writer;
GRANT SELECT ON TABLE operation.token TO ledger_reader;

GRANT UPDATE(last_used_at) ON TABLE operation.token TO ledger_writer;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE operation.webhook TO ledger_writer;
