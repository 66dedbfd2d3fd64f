-- JSON as jsonb, or as a string where jsonb cannot hold it: a number beyond numeric, for example.
-- The parameter is not named json, which PostgreSQL 17 and later reserve.
CREATE OR REPLACE FUNCTION ledger.json_or_text(source text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN source::jsonb;
EXCEPTION WHEN numeric_value_out_of_range OR invalid_text_representation
    OR untranslatable_character OR statement_too_complex THEN
    RETURN to_jsonb(source);
END
$$;
COMMENT ON FUNCTION ledger.json_or_text(text) IS
    'JSON as jsonb, or as a string where jsonb cannot hold it.';
