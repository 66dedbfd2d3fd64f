-- Notifications that are still to be forwarded: the exact bodies, each until its receiver has
-- accepted it. A body is stored before Apple gets its answer.
CREATE TABLE operation.relay (
    relay_id        uuid             NOT NULL,
    target          text COLLATE "C" NOT NULL,
    body            bytea            NOT NULL,
    environment     text COLLATE "C" NULL,
    original_transaction_id text COLLATE "C" NULL,
    received_at     timestamptz      NOT NULL,
    attempts        int              NOT NULL,
    next_attempt_at timestamptz      NULL,
    failure         text             NOT NULL,
    CONSTRAINT relay_pkey PRIMARY KEY (relay_id)
);
CREATE INDEX relay_due ON operation.relay (target, next_attempt_at);
CREATE INDEX relay_subscription ON operation.relay (original_transaction_id);
COMMENT ON TABLE operation.relay IS
    'Notifications that are still to be forwarded. Not part of the log.';
COMMENT ON COLUMN operation.relay.target IS 'The URL to which it is sent.';
COMMENT ON COLUMN operation.relay.body IS 'What Apple sent, byte for byte.';
COMMENT ON COLUMN operation.relay.original_transaction_id IS
    'The subscription, so that an erasure finds it; NULL if it is about none.';
COMMENT ON COLUMN operation.relay.attempts IS 'How often it was sent.';
COMMENT ON COLUMN operation.relay.next_attempt_at IS
    'When it is sent again; NULL if it was given up.';
COMMENT ON COLUMN operation.relay.failure IS 'What the last attempt came to.';
