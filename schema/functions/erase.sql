-- The one way by which a row of the log is ever changed: blanks rows of the stream whose erasure this
-- transaction has appended. How much of an event goes is told by the length of its new salt: 64 its
-- payload, 80 also what identifies a person, 96 all of it.
CREATE OR REPLACE FUNCTION ledger.erase(
    erasure_lane int, erasure_offset bigint,
    offsets bigint[], salts bytea[], contents bytea[], keys uuid[],
    commits bigint[], as_ofs bigint[], confirmation_salts bytea[],
    evidence_numbers bigint[]
) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    erasure ledger.event;
    blanked bigint := 0;
    more bigint;
BEGIN
    SELECT * INTO erasure FROM ledger.event
    WHERE lane = erasure_lane AND lane_offset = erasure_offset AND kind = 'erasure';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'event %:% is no erasure', erasure_lane, erasure_offset
            USING ERRCODE = 'LG001';
    END IF;
    UPDATE ledger.event e SET
        salt = a.salt,
        content = a.content,
        fact_key = a.key,
        app_account_token = NULL,
        customer_id = NULL
    FROM unnest(offsets, salts, contents, keys) AS a (number, salt, content, key)
    WHERE e.lane = erasure_lane AND e.lane_offset = a.number
        AND e.environment = erasure.environment
        AND e.original_transaction_id = erasure.original_transaction_id
        AND e.kind <> 'erasure' AND octet_length(a.salt) = 80;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.event e SET salt = a.salt
    FROM unnest(offsets, salts) AS a (number, salt)
    WHERE e.lane = erasure_lane AND e.lane_offset = a.number
        AND e.environment = erasure.environment
        AND e.original_transaction_id = erasure.original_transaction_id
        AND e.kind <> 'erasure' AND octet_length(a.salt) = 64;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.event e SET
        salt = a.salt,
        content = a.content,
        fact_key = a.key,
        kind = 'erased', as_of_ms = 0, purchase_date_ms = 0, expires_date_ms = 0, bundle_id = '',
        store = NULL, product_id = NULL, transaction_id = NULL, web_order_line_item_id = NULL,
        app_transaction_id = NULL, app_account_token = NULL, customer_id = NULL
    FROM unnest(offsets, salts, contents, keys) AS a (number, salt, content, key)
    WHERE e.lane = erasure_lane AND e.lane_offset = a.number
        AND e.environment = erasure.environment
        AND e.original_transaction_id = erasure.original_transaction_id
        AND e.kind <> 'erasure' AND octet_length(a.salt) = 96;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.confirmation c SET
        salt = a.salt,
        repetitions = CASE octet_length(a.salt) WHEN 96 THEN '' ELSE c.repetitions END,
        transaction_ids = CASE octet_length(a.salt) WHEN 96 THEN NULL ELSE c.transaction_ids END
    FROM unnest(commits, as_ofs, confirmation_salts) AS a (commit_no, as_of_ms, salt)
    WHERE c.lane = erasure_lane AND c.commit_no = a.commit_no AND c.as_of_ms = a.as_of_ms
        AND c.environment = erasure.environment
        AND c.original_transaction_id = erasure.original_transaction_id;
    GET DIAGNOSTICS more = ROW_COUNT;
    blanked := blanked + more;
    UPDATE ledger.evidence v SET digest = NULL, body = NULL, context = NULL, byte_count = 0
    WHERE v.lane = erasure_lane AND v.evidence_no = ANY (evidence_numbers)
        AND v.digest IS NOT NULL;
    RETURN blanked;
END
$$;
COMMENT ON FUNCTION ledger.erase(int, bigint, bigint[], bytea[], bytea[], uuid[], bigint[], bigint[],
    bytea[], bigint[]) IS
    'Blanks rows of the stream of an erasure that this transaction has appended, and returns how many of its events and confirmations: for ledger_eraser only.';
REVOKE ALL ON FUNCTION ledger.erase(int, bigint, bigint[], bytea[], bytea[], uuid[], bigint[],
    bigint[], bytea[], bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.erase(int, bigint, bigint[], bytea[], bytea[], uuid[], bigint[],
    bigint[], bytea[], bigint[]) TO ledger_eraser;
