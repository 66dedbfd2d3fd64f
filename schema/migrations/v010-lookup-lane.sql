-- Whether operation.lookup_key has every id of a lane: one row for each lane of a distributed ledger.
--
-- An append announces its commit here, in the transaction that lists its ids, before it makes the
-- commit. If a commit was not announced, its ids may be missing: the coordinator was restored to an
-- earlier moment, or a standby that lagged took over. Then look-ups read the lane itself until migrate
-- has listed its ids again. They know by `timeline`, which changes in either case; the next append and
-- migrate know by the digests.
CREATE TABLE operation.lookup_lane (
    lane        int     NOT NULL,
    timeline    text    COLLATE "C" NOT NULL,
    commit_no   bigint  NOT NULL,
    is_complete boolean NOT NULL,
    digest      bytea   NOT NULL,
    announced   bytea[] NOT NULL,
    CONSTRAINT lookup_lane_pkey PRIMARY KEY (lane),
    CONSTRAINT lookup_lane_commit_from_zero CHECK (commit_no >= 0)
);
COMMENT ON TABLE operation.lookup_lane IS
    'The lanes of a distributed ledger whose ids are in operation.lookup_key. If a row is lost, look-ups read that lane until migrate makes the row again.';
COMMENT ON COLUMN operation.lookup_lane.timeline IS
    'The timeline of the coordinator''s WAL when the ids of the lane were listed, or compared later; empty until then. Look-ups trust the row only on that timeline.';
COMMENT ON COLUMN operation.lookup_lane.commit_no IS
    'The number of the newest commit that an append was based on.';
COMMENT ON COLUMN operation.lookup_lane.is_complete IS
    'Whether every commit was announced since migrate began to list the ids of the lane.';
COMMENT ON COLUMN operation.lookup_lane.digest IS
    'The digest of that commit; of the genesis, before the first one.';
COMMENT ON COLUMN operation.lookup_lane.announced IS
    'The digests of the commits that were announced to follow it; one of them may have been made.';
