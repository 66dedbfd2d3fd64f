-- One text of event.content by its tag; NULL where the content does not carry it. An index finds by
-- it what is too rare for a column of its own.
CREATE OR REPLACE FUNCTION ledger.content_text(content bytea, wanted int) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    at int := 2;
    tag int;
    size int;
    shift int;
    part int;
BEGIN
    WHILE at < octet_length(content) LOOP
        tag := get_byte(content, at);
        EXIT WHEN tag > wanted;
        at := at + 1;
        size := 0;
        shift := 0;
        LOOP
            part := get_byte(content, at);
            at := at + 1;
            size := size | ((part & 127) << shift);
            EXIT WHEN part < 128;
            shift := shift + 7;
        END LOOP;
        IF tag = wanted THEN
            RETURN ledger.text_without_nul(substr(content, at + 1, size));
        END IF;
        at := at + size;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.content_text(bytea, int) IS
    'The text that event.content has under a tag; fields are in the order of their tags.';
