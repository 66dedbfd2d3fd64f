-- A refused payload that is taken in later keeps how it arrived: what came live was asked of this
-- ledger at that time, what came by an import was not.

-- Of rows from before this migration that is not known; no answer is called wrong because of them.
ALTER TABLE ledger.rejection
    ADD COLUMN is_imported boolean NOT NULL DEFAULT true;
ALTER TABLE ledger.rejection
    ALTER COLUMN is_imported DROP DEFAULT;
COMMENT ON COLUMN ledger.rejection.is_imported IS 'Whether it came by an import of files, and not live, the first time; its evidence says the same when it is taken in.';
