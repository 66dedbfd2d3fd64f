-- The second belt of append-only, after privileges: it only refuses, for everyone.
CREATE OR REPLACE FUNCTION ledger.refuse_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'ledger.% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'LG001',
              HINT = 'A wrong event is answered by a new one; a wrong projection is rebuilt.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_change() IS
    'Refuses every UPDATE, DELETE and TRUNCATE of the log with SQLSTATE LG001.';
