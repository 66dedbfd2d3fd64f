-- UTF-8 as text: U+0000, as a byte or as an escape of JSON, becomes U+FFFD, for neither text nor jsonb
-- can hold it. An escape counts only where the backslash is not itself escaped.
CREATE OR REPLACE FUNCTION ledger.text_without_nul(utf8 bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rest bytea := utf8;
    plain text;
    at int;
BEGIN
    LOOP
        at := position('\x00'::bytea IN rest);
        EXIT WHEN at = 0;
        rest := substr(rest, 1, at - 1) || '\xefbfbd'::bytea || substr(rest, at + 1);
    END LOOP;
    plain := convert_from(rest, 'UTF8');
    WHILE plain ~ '(^|[^\\])(\\\\)*\\u0000' LOOP
        plain := regexp_replace(plain, '((^|[^\\])(\\\\)*)\\u0000', '\1' || U&'\FFFD', 'g');
    END LOOP;
    RETURN plain;
END
$$;
COMMENT ON FUNCTION ledger.text_without_nul(bytea) IS
    'UTF-8 as text, with U+FFFD where PostgreSQL cannot hold U+0000.';
