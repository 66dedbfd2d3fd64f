-- What the operator should know: one row for each time that it began.
CREATE TABLE operation.alert (
    alert_id    uuid             NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    subject     text COLLATE "C" NOT NULL,
    message     text             NOT NULL,
    raised_at   timestamptz      NOT NULL,
    resolved_at timestamptz      NULL,
    CONSTRAINT alert_pkey PRIMARY KEY (alert_id),
    CONSTRAINT alert_ends_after_start CHECK (resolved_at >= raised_at)
);
COMMENT ON TABLE operation.alert IS
    'What an operator should look at: one row for each time that it began. Not part of the log.';
COMMENT ON COLUMN operation.alert.subject IS
    'What it is about: an environment, a consumer, a lane; empty for the whole ledger.';
COMMENT ON COLUMN operation.alert.resolved_at IS 'When it was over; NULL while it lasts.';
