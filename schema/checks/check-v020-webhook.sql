-- Run after v020-webhook.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT has_table_privilege('ledger_writer', 'operation.webhook', 'SELECT')
        AND NOT has_table_privilege('ledger_reader', 'operation.webhook', 'SELECT'),
        'a writer, and not a reader, must be able to read the secrets of webhooks';
END
$$;
