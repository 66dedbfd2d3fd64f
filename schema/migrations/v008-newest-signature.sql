-- The newest instant that Apple signed, which every report is bounded by: kept, so that none reads
-- the whole log for it. Whoever fills or follows tables brings it on; it holds for the log up to
-- lane_offset, and what comes after is read from the log. Lost rows cost that reading, nothing else.
CREATE TABLE operation.newest_signature (
    lane        int              NOT NULL,
    environment text COLLATE "C" NOT NULL,
    lane_offset bigint           NOT NULL,
    as_of_ms    bigint           NOT NULL,
    CONSTRAINT newest_signature_pkey PRIMARY KEY (lane, environment),
    CONSTRAINT newest_signature_offset_from_one CHECK (lane_offset >= 1)
);
COMMENT ON TABLE operation.newest_signature IS
    'The newest instant that Apple signed: one row a lane and environment. All rows of a lane hold for the same part of the log.';
COMMENT ON COLUMN operation.newest_signature.lane_offset IS 'The last event that was looked at, of any environment.';
COMMENT ON COLUMN operation.newest_signature.as_of_ms IS 'The greatest ledger.event.as_of_ms of transactions, renewals and notifications up to there.';
