-- A commit continues its lane: its numbers follow those of the commit before it, and its time is that
-- of this server, or else it could be dated into the past, where it changes what was known then. The
-- digest is not computed here; `verify` does that.
CREATE OR REPLACE FUNCTION ledger.refuse_unchained() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    next_offset bigint;
    next_evidence bigint;
    before timestamptz;
    fault text;
BEGIN
    -- Without a count, the statement did not find the commit that it was built upon, which the
    -- column refuses. Whoever may do everything restores and replicates.
    IF NEW.count IS NULL OR pg_has_role(current_user, 'ledger_owner', 'MEMBER') THEN
        RETURN NEW;
    END IF;
    SELECT k.first_offset + k.count, k.first_evidence_no + k.evidence, k.committed_at
    INTO next_offset, next_evidence, before
    FROM ledger.commit k WHERE k.lane = NEW.lane AND k.commit_no = NEW.commit_no - 1;
    IF NEW.commit_no <> 1 AND next_offset IS NULL THEN
        fault := 'the commit before it is missing';
    ELSIF NEW.first_offset <> coalesce(next_offset, 1)
        OR NEW.first_evidence_no <> coalesce(next_evidence, 1)
    THEN
        fault := 'its numbers do not follow those of the commit before it';
    ELSIF NEW.format <> 2 THEN
        fault := format('it has format %s', NEW.format);
    ELSIF NEW.committed_at < before THEN
        fault := 'its time is earlier than that of the commit before it';
    -- If the newest commit is ahead of the clock, the next one has the same time. On Citus, a shard
    -- does not know who asks.
    ELSIF TG_TABLE_NAME !~ '_[0-9]+$' AND ledger.is_other_clock(NEW.committed_at, before) THEN
        fault := 'its time is not that of this server';
    END IF;
    IF fault IS NULL THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'commit % of lane % refused: %', NEW.commit_no, NEW.lane, fault
        USING ERRCODE = 'LG003',
              HINT = 'Append with subledger; what already does not fit is found by subledger verify.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_unchained() IS
    'Refuses, with SQLSTATE LG003, a commit whose numbers, format or time do not continue its lane.';
