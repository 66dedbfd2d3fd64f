-- Tests and demonstrations write with a clock of their own. They say so, and only who may change
-- everything is believed: `session_user`, because programs append as ledger_writer.
CREATE OR REPLACE FUNCTION ledger.is_other_clock(stamp timestamptz, latest timestamptz)
RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    now timestamptz := clock_timestamp();
    -- As far as a program lets the clocks of two machines differ (README, "Clocks").
    skew interval := '300 s';
BEGIN
    IF stamp >= now - skew AND stamp <= greatest(now + skew, latest) THEN RETURN false; END IF;
    RETURN NOT (coalesce(current_setting('subledger.clock', true), '') = 'given'
        AND pg_has_role(session_user, 'ledger_owner', 'MEMBER'));
END
$$;
COMMENT ON FUNCTION ledger.is_other_clock(timestamptz, timestamptz) IS
    'Whether a time is more than 300 s from this server''s clock, and not between the clock and a latest time; not for an owner of the log who announced a clock of their own.';
