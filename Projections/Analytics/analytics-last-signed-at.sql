-- Where a view needs a last day, it is that of Apple's newest signature: no clock of ours enters.
-- The owner's rights, so that whoever may read the views needs none on the log.
CREATE OR REPLACE FUNCTION analytics.last_signed_at() RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
AS $$
    SELECT 'epoch'::timestamptz + max(as_of_ms) * interval '1 millisecond'
    FROM ledger.event WHERE kind IN ('transaction', 'renewal', 'notification')
$$;
COMMENT ON FUNCTION analytics.last_signed_at() IS
    'The newest instant that Apple signed, of all environments: nothing is known of the time after it.'
