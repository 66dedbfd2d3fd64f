-- Tokens may expire, may be limited to a number of requests, and may have more roles. A ledger whose
-- schema `operation` was made later has all of this from the beginning. One change a statement: a
-- coordinator of Citus takes no constraint together with others.
ALTER TABLE operation.token ADD COLUMN IF NOT EXISTS expires_at timestamptz NULL;
ALTER TABLE operation.token ADD COLUMN IF NOT EXISTS requests_per_minute int NULL;
ALTER TABLE operation.token DROP CONSTRAINT IF EXISTS token_rate_positive;
ALTER TABLE operation.token
    ADD CONSTRAINT token_rate_positive CHECK (requests_per_minute > 0);
ALTER TABLE operation.token DROP CONSTRAINT IF EXISTS token_role_known;
ALTER TABLE operation.token ADD CONSTRAINT token_role_known CHECK (
    cardinality(roles) > 0
    AND roles <@ '{ingest,support,finance,analyst,operator,admin}'::text[]);
COMMENT ON COLUMN operation.token.roles IS
    'What it may do: ingest, support, finance, analyst, operator, admin.';
COMMENT ON COLUMN operation.token.expires_at IS
    'From when on it is refused, on the service''s clock; NULL for never.';
COMMENT ON COLUMN operation.token.requests_per_minute IS
    'The most requests that one service answers in a minute; NULL for any number.';
