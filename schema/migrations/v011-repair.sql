-- Rows that were inserted past the programs, and that the owner of the log removed because nothing
-- could be appended or unpacked because of them. Not an event: the chain never had these rows, and
-- a reader of an older version must still be able to verify it.
CREATE TABLE ledger.repair (
    lane         int         NOT NULL,
    repaired_at  timestamptz NOT NULL,
    repair_id    uuid        NOT NULL,
    relation     text        COLLATE "C" NOT NULL,
    stated_by    text        COLLATE "C" NOT NULL,
    reason       text        COLLATE "C" NOT NULL,
    removed      jsonb       NOT NULL,
    CONSTRAINT repair_pkey PRIMARY KEY (lane, repair_id),
    CONSTRAINT repair_reason_stated CHECK (reason <> '' AND stated_by <> '')
) /* by lane */;
COMMENT ON TABLE ledger.repair IS
    'What `subledger repair` removed: one row for each removed row. Outside of the chain, like the rows themselves; only the owner may insert.';
COMMENT ON COLUMN ledger.repair.lane IS 'The lane of the removed row.';
COMMENT ON COLUMN ledger.repair.repaired_at IS 'The server''s clock when it was removed; whole milliseconds.';
COMMENT ON COLUMN ledger.repair.repair_id IS 'A random number of this row.';
COMMENT ON COLUMN ledger.repair.relation IS 'The table that it was removed from, without its schema.';
COMMENT ON COLUMN ledger.repair.stated_by IS 'Who repaired.';
COMMENT ON COLUMN ledger.repair.reason IS 'Why the row could be removed.';
COMMENT ON COLUMN ledger.repair.removed IS 'The row as it was.';
-- From the time at which this migration was applied (ledger.migration) the database refuses payloads
-- without bytes in lanes without erasures; `verify --signatures` reads it.
