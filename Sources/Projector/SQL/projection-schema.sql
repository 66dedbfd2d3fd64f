-- Schema projection and the tables about its tables; may be executed again.
BEGIN;
SET LOCAL client_min_messages = warning;
{{stays_here}};
SELECT pg_advisory_xact_lock(x'50726f6a'::bigint);
DO $$
BEGIN
    -- IF NOT EXISTS would ask for the right to make schemas even where it is there.
    IF to_regnamespace('projection') IS NULL THEN
        CREATE SCHEMA projection AUTHORIZATION ledger_projector;
    END IF;
    IF to_regnamespace('analytics') IS NULL THEN
        CREATE SCHEMA analytics AUTHORIZATION ledger_projector;
        COMMENT ON SCHEMA analytics IS '{{analytics_mark}}.';
    END IF;
END
$$;
SET LOCAL ROLE ledger_projector;
GRANT USAGE ON SCHEMA projection TO ledger_writer, ledger_reader;
DO $$
BEGIN
    -- A schema of that name may be another owner's; publishing the views reports this.
    IF (SELECT nspowner = to_regrole('ledger_projector') FROM pg_namespace
        WHERE nspname = 'analytics') THEN
        GRANT USAGE ON SCHEMA analytics TO ledger_writer, ledger_reader, ledger_analyst;
    END IF;
END
$$;
CREATE TABLE IF NOT EXISTS projection.ledger_projection (
    lane              int              NOT NULL,
    build_schema      text COLLATE "C" NOT NULL,
    name              text COLLATE "C" NOT NULL,
    state             text COLLATE "C" NOT NULL,
    version           int              NOT NULL,
    catalog_version int              NOT NULL,
    policy            text COLLATE "C",
    lane_offset       bigint           NOT NULL,
    commit_no         bigint           NOT NULL,
    commit_digest     bytea            NOT NULL,
    row_count         bigint           NOT NULL,
    digest            bytea            NOT NULL,
    updated_at        timestamptz      NOT NULL,
    fold              text COLLATE "C",
    CONSTRAINT ledger_projection_pkey PRIMARY KEY (lane, build_schema, name),
    CONSTRAINT ledger_projection_state_known
        CHECK ({{state_known}})
);
DO $$
BEGIN
    -- IF NOT EXISTS would wait for every reader of the table even where the column is there.
    IF NOT EXISTS (SELECT FROM pg_attribute
        WHERE attrelid = 'projection.ledger_projection'::regclass AND attname = 'fold') THEN
        ALTER TABLE projection.ledger_projection ADD COLUMN fold text COLLATE "C";
    END IF;
END
$$;
COMMENT ON TABLE projection.ledger_projection IS 'Every table of a projection, lane by lane: which fold made it, up to which commit, with which content.';
{{ledger_projection_comments}}
CREATE TABLE IF NOT EXISTS projection.refused_stream (
    lane                    int              NOT NULL,
    build_schema            text COLLATE "C" NOT NULL,
    name                    text COLLATE "C" NOT NULL,
    environment             text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    lane_offset             bigint           NOT NULL,
    reason                  text             NOT NULL,
    CONSTRAINT refused_stream_pkey PRIMARY KEY
        (lane, build_schema, name, environment, original_transaction_id)
);
COMMENT ON TABLE projection.refused_stream IS 'Subscriptions that a fold refused: the table of that name has no row of them.';
{{refused_stream_comments}}
GRANT SELECT ON projection.ledger_projection, projection.refused_stream
    TO ledger_writer, ledger_reader;
COMMIT
