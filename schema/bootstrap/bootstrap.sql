-- What must be there before the first migration: the schema, the three roles, the list of
-- migrations. Applied at every run of the migrator; changes nothing that is there.
CREATE SCHEMA IF NOT EXISTS ledger;
COMMENT ON SCHEMA ledger IS 'The log of App Store subscriptions: append-only, never rebuilt.';

-- Roles belong to the whole cluster, so they may be there already.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['ledger_owner', 'ledger_writer', 'ledger_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another migration of this cluster was faster
            END;
        END IF;
        IF NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
            EXECUTE format('GRANT %I TO %I', wanted, current_user);
        END IF;
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA ledger TO ledger_owner, ledger_writer, ledger_reader;

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
