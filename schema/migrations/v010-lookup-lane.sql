-- Whether operation.lookup_key has every id of a lane: one row for each lane of a distributed ledger.
--
-- A commit announces its number here together with its ids. A lane whose newest commit was not
-- announced has lost ids: the coordinator was restored to an earlier moment, or a standby that lagged
-- took over. The next commit notices that, and so does `migrate`, which fills the lane again; until
-- then, every look-up asks it.
CREATE TABLE operation.lookup_lane (
    lane        int     NOT NULL,
    commit_no   bigint  NOT NULL,
    is_complete boolean NOT NULL,
    CONSTRAINT lookup_lane_pkey PRIMARY KEY (lane),
    CONSTRAINT lookup_lane_commit_from_zero CHECK (commit_no >= 0)
);
COMMENT ON TABLE operation.lookup_lane IS
    'The lanes of a distributed ledger whose ids are in operation.lookup_key. A lost row costs time, nothing else, until migrate makes it again.';
COMMENT ON COLUMN operation.lookup_lane.commit_no IS
    'The greatest number of a commit that was announced, whether or not it was made.';
COMMENT ON COLUMN operation.lookup_lane.is_complete IS
    'Whether every id of the lane is in operation.lookup_key; if not, look-ups ask the lane.';
