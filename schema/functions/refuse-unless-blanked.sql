-- An erasure blanks rows; it changes nothing else, and no row of another stream. A body may also go
-- when a file holds it that this transaction has recorded.
CREATE OR REPLACE FUNCTION ledger.refuse_unless_blanked() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moved record;
    kept jsonb;
    now jsonb;
    level int;
    emptied text[] := CASE TG_ARGV[0]
        WHEN 'evidence' THEN '{digest,body,context,byte_count}'
        WHEN 'confirmation' THEN '{salt,repetitions,transaction_ids}'
        ELSE '{salt,fact_key,content,app_account_token,customer_id}'
        END::text[];
BEGIN
    IF TG_ARGV[0] = 'evidence' THEN
        moved := OLD;
        moved.body := NULL;
        IF NEW IS NOT DISTINCT FROM moved THEN
            -- What this transaction has written bears its number.
            PERFORM 1 FROM ledger.evidence_file f
            WHERE f.lane = NEW.lane AND f.first_evidence_no <= NEW.evidence_no
                AND f.last_evidence_no >= NEW.evidence_no
                AND f.xmin = pg_current_xact_id_if_assigned()::xid;
            IF FOUND THEN RETURN NEW; END IF;
        END IF;
    END IF;
    kept := to_jsonb(OLD);
    now := to_jsonb(NEW);
    level := octet_length((now ->> 'salt')::bytea);
    IF TG_ARGV[0] = 'event' AND level = 96 THEN
        emptied := emptied || '{kind,as_of_ms,purchase_date_ms,expires_date_ms,bundle_id,store,
            product_id,transaction_id,web_order_line_item_id,app_transaction_id}'::text[];
    END IF;
    IF now - emptied IS DISTINCT FROM kept - emptied
        OR NOT (CASE TG_ARGV[0]
            WHEN 'evidence' THEN num_nulls(now ->> 'digest', now ->> 'body', now ->> 'context') = 3
                AND now ->> 'byte_count' = '0' AND ledger.is_erasing(NEW.lane, NULL, NULL)
            ELSE level > octet_length((kept ->> 'salt')::bytea) AND ledger.is_erasing(
                NEW.lane, now ->> 'environment', now ->> 'original_transaction_id')
            END)
    THEN
        RAISE EXCEPTION 'ledger.% is append-only: UPDATE refused', TG_ARGV[0]
            USING ERRCODE = 'LG001',
                  HINT = 'An erasure blanks rows of its own stream and changes nothing else.';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.refuse_unless_blanked() IS
    'Lets an UPDATE pass that blanks a row of the stream which this transaction erases, or removes a body that it has recorded as moved, and refuses every other with SQLSTATE LG001.';
