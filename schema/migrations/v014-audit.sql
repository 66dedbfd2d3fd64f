-- Who asked the HTTP service about whom, where the operator wants that kept: `serve --audit-days`.
-- A row says itself until when it is kept, so that who writes rows cannot remove them earlier.
CREATE TABLE operation.audit (
    asked_at   timestamptz      NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    token      text COLLATE "C" NOT NULL,
    address    text COLLATE "C" NOT NULL,
    question   text COLLATE "C" NOT NULL,
    subject    text COLLATE "C" NOT NULL,
    kept_until timestamptz      NOT NULL,
    CONSTRAINT audit_pkey PRIMARY KEY (asked_at, request_id),
    CONSTRAINT audit_kept_for_some_time CHECK (kept_until > asked_at)
);
CREATE INDEX audit_kept_until ON operation.audit (kept_until);
CREATE INDEX audit_subject ON operation.audit (subject, asked_at);
COMMENT ON TABLE operation.audit IS
    'Who asked about whom over HTTP: one row for each question and upload, written before it is answered. Not part of the log.';
COMMENT ON COLUMN operation.audit.asked_at IS 'The service''s clock when the request was accepted.';
COMMENT ON COLUMN operation.audit.request_id IS 'The id of the request in the log of the service.';
COMMENT ON COLUMN operation.audit.token IS 'The name of the token.';
COMMENT ON COLUMN operation.audit.address IS 'The address of the client; empty where it is not known.';
COMMENT ON COLUMN operation.audit.question IS 'What was asked: the name of the question, or upload.';
COMMENT ON COLUMN operation.audit.subject IS 'The id that was asked about, as it stood in the request.';
COMMENT ON COLUMN operation.audit.kept_until IS 'From when on ledger.forget_audits removes the row.';
