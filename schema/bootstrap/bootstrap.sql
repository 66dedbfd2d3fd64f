-- What must be there before the first migration: the three roles, the schema, the list of
-- migrations. Applied at every run of the migrator; changes nothing that is there, and asks for no
-- right that it does not use: schema/README.md says which role needs what.

-- Roles belong to the whole cluster, so they may be there already.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['ledger_owner', 'ledger_writer', 'ledger_reader', 'ledger_eraser'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another migration of this cluster was faster
            END;
        END IF;
        IF NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
            BEGIN
                EXECUTE format('GRANT %I TO %I', wanted, current_user);
            EXCEPTION WHEN insufficient_privilege THEN
                -- Only what belongs to ledger_owner is changed here.
                IF wanted = 'ledger_owner' THEN RAISE; END IF;
            END;
        END IF;
    END LOOP;
    IF NOT pg_has_role('ledger_eraser', 'ledger_writer', 'MEMBER') THEN
        GRANT ledger_writer TO ledger_eraser;
    END IF;
END
$$;

-- The schema is ledger_owner's, so that any member can migrate. CREATE SCHEMA IF NOT EXISTS would
-- ask for the right to make schemas even where it is there.
DO $$
BEGIN
    IF to_regnamespace('ledger') IS NULL THEN
        CREATE SCHEMA ledger AUTHORIZATION ledger_owner;
        COMMENT ON SCHEMA ledger IS 'The log of App Store subscriptions: append-only, never rebuilt.';
    END IF;
    -- An administrator may have made it.
    IF NOT has_schema_privilege('ledger_owner', 'ledger', 'CREATE')
        OR NOT has_schema_privilege('ledger_writer', 'ledger', 'USAGE')
        OR NOT has_schema_privilege('ledger_reader', 'ledger', 'USAGE') THEN
        GRANT ALL ON SCHEMA ledger TO ledger_owner;
        GRANT USAGE ON SCHEMA ledger TO ledger_writer, ledger_reader;
    END IF;
END
$$;

CREATE TABLE IF NOT EXISTS ledger.migration (
    version    int         NOT NULL,
    name       text        NOT NULL,
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT migration_pkey PRIMARY KEY (version)
);
COMMENT ON TABLE ledger.migration IS 'The migrations that were applied, oldest first.';
COMMENT ON COLUMN ledger.migration.checksum IS
    'SHA-256 of the file as it was applied: a migration that has shipped is never edited.';
