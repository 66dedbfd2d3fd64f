-- A rate that is dated into the past would change what a report converted with then.
CREATE OR REPLACE FUNCTION ledger.refuse_other_clock() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_has_role(current_user, 'ledger_owner', 'MEMBER')
        OR NOT ledger.is_other_clock(NEW.recorded_at, NULL)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '%.%: recorded_at % refused: it is not the time of this server',
        TG_TABLE_SCHEMA, TG_TABLE_NAME, NEW.recorded_at
        USING ERRCODE = 'LG003',
              HINT = 'Import rates with subledger rates import.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_other_clock() IS
    'Refuses, with SQLSTATE LG003, a row whose recorded_at is not the time of this server.';
