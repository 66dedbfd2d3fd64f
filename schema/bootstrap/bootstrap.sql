-- What must be there before the first migration: the roles, the schemas `ledger` and `operation`, the
-- list of migrations. The migrator runs it before it changes anything, and not where nothing is to
-- be changed. It changes nothing that is there already, and asks for no right that it does not use:
-- schema/README.md says which role needs what.

-- Roles belong to the whole cluster, so they may be there already.
DO $$
DECLARE
    wanted text;
    -- From PostgreSQL 16 on a role that makes another may administer it, but neither become it nor
    -- use its rights before it has granted itself both.
    options text := CASE WHEN current_setting('server_version_num')::int >= 160000
        THEN ' WITH SET TRUE, INHERIT TRUE' ELSE '' END;
    needed text := CASE WHEN options = '' THEN 'MEMBER' ELSE 'SET' END;
    part text[];
BEGIN
    FOREACH wanted IN ARRAY ARRAY['ledger_owner', 'ledger_writer', 'ledger_reader',
        'ledger_projector', 'ledger_eraser', 'ledger_analyst']
    LOOP
        IF to_regrole(wanted) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another migration of this cluster was faster
            END;
        END IF;
        -- Who may erase is granted by hand, to whom it concerns; nothing runs as an analyst.
        CONTINUE WHEN wanted IN ('ledger_eraser', 'ledger_analyst');
        IF NOT pg_has_role(current_user, wanted, needed)
            OR NOT pg_has_role(current_user, wanted, 'USAGE') THEN
            BEGIN
                EXECUTE format('GRANT %I TO %I%s', wanted, current_user, options);
            EXCEPTION WHEN insufficient_privilege THEN
                -- Only what belongs to ledger_owner is changed by every migration.
                IF wanted = 'ledger_owner' THEN RAISE; END IF;
            END;
        END IF;
    END LOOP;
    FOREACH part SLICE 1 IN ARRAY ARRAY[
        ['ledger_reader', 'ledger_projector'], ['ledger_writer', 'ledger_eraser']]
    LOOP
        IF NOT pg_has_role(part[2], part[1], 'USAGE') THEN
            BEGIN
                EXECUTE format('GRANT %I TO %I%s', part[1], part[2], options);
            EXCEPTION WHEN unique_violation THEN
                NULL;
            END;
        END IF;
    END LOOP;
END
$$;

-- The schemas are ledger_owner's, so that any member can migrate. CREATE SCHEMA IF NOT EXISTS would
-- ask for the right to make schemas even where it is there. What is granted on them is among what
-- `guard` compares.
DO $$
BEGIN
    IF to_regnamespace('ledger') IS NULL THEN
        CREATE SCHEMA ledger AUTHORIZATION ledger_owner;
        COMMENT ON SCHEMA ledger IS 'The log of App Store subscriptions: append-only, never rebuilt.';
    END IF;
    IF to_regnamespace('operation') IS NULL THEN
        CREATE SCHEMA operation AUTHORIZATION ledger_owner;
        COMMENT ON SCHEMA operation IS
            'What running programs write for themselves, and the tokens of the HTTP service: not part of the log.';
    END IF;
    IF to_regclass('ledger.migration') IS NULL THEN
        CREATE TABLE ledger.migration (
            version    int         NOT NULL,
            name       text        NOT NULL,
            checksum   text        NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT migration_pkey PRIMARY KEY (version)
        );
        COMMENT ON TABLE ledger.migration IS 'The migrations that were applied, oldest first.';
        COMMENT ON COLUMN ledger.migration.checksum IS
            'SHA-256 of the file as it was applied: a migration that has shipped is never edited.';
    END IF;
    IF to_regclass('operation.lease') IS NULL THEN
        CREATE TABLE operation.lease (
            lane       int              NOT NULL,
            folds      text COLLATE "C" NOT NULL,
            holder     text COLLATE "C" NOT NULL,
            expires_at timestamptz      NOT NULL,
            CONSTRAINT lease_pkey PRIMARY KEY (lane, folds)
        );
        COMMENT ON TABLE operation.lease IS
            'Which process follows a lane; it may be taken over once it has expired.';
        COMMENT ON COLUMN operation.lease.folds IS
            'Names and versions of the folds whose tables it brings on.';
    END IF;
    IF to_regclass('operation.token') IS NULL THEN
        CREATE TABLE operation.token (
            name         text COLLATE "C"   NOT NULL,
            roles        text[] COLLATE "C" NOT NULL,
            digest       bytea              NOT NULL,
            created_at   timestamptz        NOT NULL DEFAULT clock_timestamp(),
            last_used_at timestamptz        NULL,
            revoked_at   timestamptz        NULL,
            expires_at   timestamptz        NULL,
            requests_per_minute int         NULL,
            CONSTRAINT token_pkey PRIMARY KEY (name),
            CONSTRAINT token_digest_is_sha256 CHECK (octet_length(digest) = 32),
            CONSTRAINT token_role_known CHECK (
                cardinality(roles) > 0
                AND roles <@ '{ingest,support,finance,analyst,operator,admin}'::text[]),
            CONSTRAINT token_rate_positive CHECK (requests_per_minute > 0)
        );
        COMMENT ON TABLE operation.token IS
            'Who may ask the HTTP service: one row for each token. A revoked one stays, so that its name is never given again.';
        COMMENT ON COLUMN operation.token.name IS
            'The name that stands in the token and in the log of requests.';
        COMMENT ON COLUMN operation.token.roles IS
            'What it may do: ingest, support, finance, analyst, operator, admin.';
        COMMENT ON COLUMN operation.token.digest IS
            'SHA-256 of the token. The token itself, 256 random bits, is printed once and kept nowhere.';
        COMMENT ON COLUMN operation.token.last_used_at IS
            'When it was used last, to within a minute.';
        COMMENT ON COLUMN operation.token.expires_at IS
            'From when on it is refused, on the service''s clock; NULL for never.';
        COMMENT ON COLUMN operation.token.requests_per_minute IS
            'The most requests that one service answers in a minute; NULL for any number.';
    END IF;
    IF to_regclass('operation.poll') IS NULL THEN
        CREATE TABLE operation.poll (
            lane                    int              NOT NULL,
            environment             text COLLATE "C" NOT NULL,
            original_transaction_id text COLLATE "C" NOT NULL,
            continuation            text COLLATE "C" NULL,
            answered_at             timestamptz      NULL,
            holder                  text COLLATE "C" NULL,
            expires_at              timestamptz      NULL,
            CONSTRAINT poll_pkey PRIMARY KEY (lane, environment, original_transaction_id),
            CONSTRAINT poll_lease_is_whole CHECK ((holder IS NULL) = (expires_at IS NULL))
        );
        COMMENT ON TABLE operation.poll IS
            'What Apple was asked: one row for each subscription that was, and one without an id for the notifications of an environment. Lost rows cost requests, nothing else.';
        COMMENT ON COLUMN operation.poll.continuation IS
            'Where the next question continues: the revision of the transaction history, or of notifications the instant up to which they were asked for, in milliseconds.';
        COMMENT ON COLUMN operation.poll.answered_at IS
            'When Apple answered last, on the server''s clock.';
        COMMENT ON COLUMN operation.poll.holder IS
            'Which poller is asking now; NULL where none is. It may be taken over once it has expired.';
    END IF;
    IF to_regclass('operation.backfill') IS NULL THEN
        CREATE TABLE operation.backfill (
            environment             text COLLATE "C" NOT NULL,
            since_ms                bigint           NOT NULL,
            is_complete             boolean          NOT NULL,
            reached_ms              bigint           NOT NULL,
            started_at              timestamptz      NOT NULL,
            finished_at             timestamptz      NULL,
            CONSTRAINT backfill_pkey PRIMARY KEY (environment, is_complete),
            CONSTRAINT backfill_reached_in_span CHECK (reached_ms >= since_ms)
        );
        COMMENT ON TABLE operation.backfill IS
            'The last backfills of each environment, so that one that was interrupted can go on. A lost row costs requests, nothing else.';
        COMMENT ON COLUMN operation.backfill.since_ms IS
            'Where its span begins, in milliseconds.';
        COMMENT ON COLUMN operation.backfill.is_complete IS
            'Whether every customer is asked about, and not only those whose charge is due.';
        COMMENT ON COLUMN operation.backfill.reached_ms IS
            'Up to where notifications were asked for, in milliseconds.';
        COMMENT ON COLUMN operation.backfill.started_at IS
            'When it was begun first, on the server''s clock: whoever was answered since is done (poll.answered_at).';
        COMMENT ON COLUMN operation.backfill.finished_at IS
            'When everything was asked; NULL where an interrupted one can go on.';
    END IF;
END
$$;
