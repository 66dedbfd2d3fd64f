-- For people and reports in SQL: what a row of ledger.confirmation repeats, a line each. `fields` are
-- the tags of the repeated fields (schema/README.md); transaction_id is empty where it was known.
CREATE OR REPLACE FUNCTION ledger.repetitions(row_of ledger.confirmation)
RETURNS TABLE (evidence_no bigint, lane_offset bigint, as_of_ms bigint, fields int[],
    transaction_id text)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bytes constant bytea := row_of.repetitions;
    numbers numeric[] := '{}';
    number numeric := 0;
    place numeric := 1;
    part int;
    masks numeric[] := '{}';
    rest numeric;
    at int;
    step numeric;
BEGIN
    -- All numbers of the row, unsigned LEB128.
    FOR at IN 0..octet_length(bytes) - 1 LOOP
        part := get_byte(bytes, at);
        number := number + (part & 127) * place;
        place := place * 128;
        IF part < 128 THEN
            numbers := numbers || number;
            number := 0;
            place := 1;
        END IF;
    END LOOP;
    masks := numbers[2:1 + numbers[1]::int];
    evidence_no := row_of.evidence_no;
    lane_offset := 0;
    as_of_ms := row_of.as_of_ms;
    at := 2 + numbers[1]::int;
    WHILE at <= cardinality(numbers) LOOP
        evidence_no := evidence_no + numbers[at];
        -- Differences are zigzag coded: 0, -1, 1, -2 … as 0, 1, 2, 3 ….
        step := numbers[at + 1];
        lane_offset := lane_offset + CASE WHEN step % 2 = 0 THEN step / 2 ELSE -(step + 1) / 2 END;
        step := numbers[at + 2];
        as_of_ms := as_of_ms + CASE WHEN step % 2 = 0 THEN step / 2 ELSE -(step + 1) / 2 END;
        rest := masks[1 + div(numbers[at + 3], 2)];
        fields := '{}';
        FOR tag IN 0..255 LOOP
            EXIT WHEN rest = 0;
            IF rest % 2 = 1 THEN fields := fields || tag; END IF;
            rest := div(rest, 2);
        END LOOP;
        transaction_id := '';
        IF numbers[at + 3] % 2 = 1 THEN
            transaction_id := row_of.transaction_ids[1 + numbers[at + 4]::int];
            at := at + 1;
        END IF;
        at := at + 4;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ledger.repetitions(ledger.confirmation) IS
    'What a confirmation repeats: SELECT r.* FROM ledger.confirmation c, ledger.repetitions(c) r.';
