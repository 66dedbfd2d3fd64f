-- What each ingest run came to: how often facts are repeated and transactions restored cannot be
-- told from the log alone, which keeps only what is news. Outside of the chain of digests: it is
-- about our own work, and proves nothing about Apple's data.

CREATE TABLE ledger.ingestion (
    lane               int         NOT NULL,
    run_id             uuid        NOT NULL,
    started_at         timestamptz NOT NULL,
    finished_at        timestamptz NOT NULL,
    payloads           bigint      NOT NULL,
    rejected           bigint      NOT NULL,
    appended           bigint      NOT NULL,
    duplicates         bigint      NOT NULL,
    restored           bigint      NOT NULL,
    streams            bigint      NOT NULL,
    was_stopped        boolean     NOT NULL,
    source             text        COLLATE "C" NOT NULL,
    rejected_by_reason jsonb       NOT NULL,
    CONSTRAINT ingestion_pkey PRIMARY KEY (lane, run_id, source),
    CONSTRAINT ingestion_lane_is_of_run CHECK (lane = ledger.lane_of(run_id::text)),
    CONSTRAINT ingestion_ends_after_its_start CHECK (finished_at >= started_at),
    CONSTRAINT ingestion_counts_from_zero CHECK (
        rejected >= 0 AND payloads >= rejected AND appended >= 0 AND duplicates >= 0
        AND restored >= 0 AND restored <= appended + duplicates AND streams >= 0)
) /* by lane */;
COMMENT ON TABLE ledger.ingestion IS
    'One row for each ingest run and source, written at its end, also when it was stopped. A run that dies leaves none; its facts are in the log all the same.';
COMMENT ON COLUMN ledger.ingestion.lane IS 'lane_of(run_id as text): a run belongs to no subscription.';
COMMENT ON COLUMN ledger.ingestion.started_at IS 'Our clock, whole milliseconds.';
COMMENT ON COLUMN ledger.ingestion.finished_at IS 'Our clock, whole milliseconds.';
COMMENT ON COLUMN ledger.ingestion.payloads IS 'Payloads seen, the refused ones included.';
COMMENT ON COLUMN ledger.ingestion.rejected IS 'Payloads refused whole, each time counted: ledger.rejection keeps each once.';
COMMENT ON COLUMN ledger.ingestion.appended IS 'Facts that became events.';
COMMENT ON COLUMN ledger.ingestion.duplicates IS 'Facts that the log knew already.';
COMMENT ON COLUMN ledger.ingestion.restored IS 'Facts whose transaction id was new for a purchase that was known: a restore made it.';
COMMENT ON COLUMN ledger.ingestion.streams IS 'Subscriptions that the payloads spoke of.';
COMMENT ON COLUMN ledger.ingestion.was_stopped IS 'Whether it was interrupted; the counts are of what was done until then.';
COMMENT ON COLUMN ledger.ingestion.rejected_by_reason IS 'How many payloads for each machine word; adds up to rejected.';
