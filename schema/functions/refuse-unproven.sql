-- An erasure makes appends refuse facts, and a payload without its bytes is believed without a proof:
-- neither may come from a role that can only insert.
CREATE OR REPLACE FUNCTION ledger.refuse_unproven() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_has_role(current_user, 'ledger_eraser', 'MEMBER')
        OR pg_has_role(current_user, 'ledger_owner', 'MEMBER')
    THEN
        RETURN NULL;
    END IF;
    -- What Apple sends about an erased subscription is verified and not kept; `verify --signatures`
    -- then asks which erasure explains it.
    IF TG_ARGV[0] = 'evidence' THEN
        PERFORM 1 FROM ledger.event e WHERE e.lane = NEW.lane AND e.kind = 'erasure';
        IF FOUND THEN RETURN NULL; END IF;
    END IF;
    RAISE EXCEPTION 'ledger.%: % refused: % may not erase', TG_ARGV[0],
        CASE TG_ARGV[0] WHEN 'event' THEN 'an event of kind erasure'
            ELSE 'a payload without its bytes' END, current_user
        USING ERRCODE = 'LG001',
              HINT = 'Only ledger_eraser records erasures; without one, every payload is kept.';
END
$$;
COMMENT ON FUNCTION ledger.refuse_unproven() IS
    'Refuses, with SQLSTATE LG001, events of kind erasure, and payloads without bytes in a lane without erasures, from roles that may not erase.';
