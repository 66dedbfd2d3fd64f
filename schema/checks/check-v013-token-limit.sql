-- Run after v013-token-limit.sql, in the same transaction: what it must have brought about.
DO $$
BEGIN
    ASSERT NOT has_column_privilege('ledger_writer', 'operation.token', 'expires_at', 'UPDATE')
        AND NOT has_column_privilege('ledger_writer', 'operation.token', 'requests_per_minute',
            'UPDATE'),
        'only the owner decides how long a token holds, and how often';
END
$$;
