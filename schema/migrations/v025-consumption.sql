-- Apple's requests for information about purchases whose customers ask for refunds, and what became
-- of each. A row is written before anything is sent, so that a process that dies while it sends
-- leaves the body behind, and the next one sends the same again. The body says how much a person
-- used, so an erasure removes the row with the customer.
CREATE TABLE operation.consumption (
    lane                    int         NOT NULL,
    lane_offset             bigint      NOT NULL,
    requested_at            timestamptz NOT NULL,
    due_at                  timestamptz NOT NULL,
    decided_at              timestamptz NULL,
    retry_at                timestamptz NULL,
    attempts                int         NOT NULL,
    error_code              bigint      NULL,
    environment             text COLLATE "C" NOT NULL,
    original_transaction_id text COLLATE "C" NOT NULL,
    transaction_id          text COLLATE "C" NOT NULL,
    bundle_id               text COLLATE "C" NOT NULL,
    outcome                 text COLLATE "C" NOT NULL,
    note                    text COLLATE "C" NOT NULL,
    body                    text COLLATE "C" NULL,
    CONSTRAINT consumption_pkey PRIMARY KEY (lane, lane_offset),
    CONSTRAINT consumption_outcome_known CHECK (outcome IN ('open', 'sending', 'failed', 'sent',
        'notConsented', 'notNeeded', 'refused', 'tooLate', 'superseded')),
    CONSTRAINT consumption_sends_a_body CHECK (outcome NOT IN ('sending', 'sent') OR body IS NOT NULL)
);
CREATE INDEX consumption_of_subscription
    ON operation.consumption (lane, original_transaction_id);
CREATE INDEX consumption_waiting ON operation.consumption (requested_at)
    WHERE outcome IN ('open', 'sending', 'failed');
COMMENT ON TABLE operation.consumption IS
    'Apple''s requests for consumption information and how they were answered: one row a request. Not part of the log; if a row of a request that is still due is lost, it is answered again.';
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
