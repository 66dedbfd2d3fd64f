-- What a webhook has not received although its consumer has passed it: waits for another attempt, or
-- was given up. It names effects and contains nothing of them: what is sent is made from the log.
CREATE TABLE operation.delivery (
    webhook         text COLLATE "C" NOT NULL,
    message_id      text COLLATE "C" NOT NULL,
    lane            int              NULL,
    commit_no       bigint           NULL,
    environment     text COLLATE "C" NULL,
    original_transaction_id text COLLATE "C" NULL,
    ordinal         int              NULL,
    first_sent_at   timestamptz      NOT NULL,
    attempts        int              NOT NULL,
    next_attempt_at timestamptz      NULL,
    failure         text             NOT NULL,
    CONSTRAINT delivery_pkey PRIMARY KEY (webhook, message_id)
);
COMMENT ON TABLE operation.delivery IS
    'Effects and alerts that a webhook has not received yet, or that were given up. Not part of the log.';
COMMENT ON COLUMN operation.delivery.message_id IS
    'The header webhook-id: the id of the effect, or alert: and the id of the alert.';
COMMENT ON COLUMN operation.delivery.commit_no IS
    'The commit of the effect; NULL for an alert, as all that names an effect.';
COMMENT ON COLUMN operation.delivery.ordinal IS
    'Which effect of the commit for this subscription, from 1.';
COMMENT ON COLUMN operation.delivery.attempts IS 'How often it was sent.';
COMMENT ON COLUMN operation.delivery.next_attempt_at IS
    'When it is sent again; NULL if it was given up (a dead letter).';
COMMENT ON COLUMN operation.delivery.failure IS
    'What the last attempt came to; empty if it waits for an earlier effect.';
