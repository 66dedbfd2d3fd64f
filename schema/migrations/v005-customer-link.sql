-- Whose subscription it is: the operator's statements, events of kind 'link' in the same log, so
-- that who had a subscription when, and on whose word, can be asked as of any time (promise 1).
--
-- One scan of the table for both constraints; the new column is empty in every row there is.

ALTER TABLE ledger.event
    ADD COLUMN customer_id text COLLATE "C",
    DROP CONSTRAINT event_kind_known,
    ADD CONSTRAINT event_kind_known
        CHECK (kind IN ('transaction', 'renewal', 'notification', 'link')),
    ADD CONSTRAINT event_customer_of_links_only CHECK (customer_id IS NULL OR kind = 'link');
CREATE INDEX event_customer_id ON ledger.event (customer_id) WHERE customer_id IS NOT NULL;
COMMENT ON COLUMN ledger.event.as_of_ms IS 'Apple''s clock: when the payload asserted the fact (signedDate); of a link the instant that the operator''s statement names. Milliseconds since 1970, UTC.';
COMMENT ON COLUMN ledger.event.kind IS 'transaction, renewal (a snapshot of renewal info), notification, or link (the operator''s statement whose subscription it is).';
COMMENT ON COLUMN ledger.event.customer_id IS 'The app''s own name for the customer whom a link names; NULL in a link that says nobody, and in all that is not a link.';
