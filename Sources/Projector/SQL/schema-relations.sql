-- The relations of the schema $1, and whether a rebuild created each: all tables of a schema with a
-- rebuild's number, and in other schemas those that are listed.
SELECT c.relname, c.relkind = 'r' AND (n.nspname ~ '^projection_[0-9]{1,9}$' OR EXISTS (
    SELECT FROM projection.ledger_projection p
    WHERE p.build_schema = n.nspname AND p.name = c.relname))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') ORDER BY 1
