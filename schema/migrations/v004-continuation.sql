-- A subscription that Apple migrated is found by the one before it: the index event_continuation,
-- which Schema.swift lists, is over what the content has under tag 24.
COMMENT ON COLUMN ledger.event.content IS 'All fields of the fact in canonical bytes (schema/README.md; readable with ledger.content_fields). The typed columns repeat some for people and indexes; verify checks that they agree. One index is over the previousOriginalTransactionId in it, which few contents have.';
