-- What an erasure needs: a kind of event that says who erased what and why, and room for rows whose
-- parts were removed. The canonical bytes stay as they are (schema/README.md, "Erasure").

ALTER TABLE ledger.event
    DROP CONSTRAINT event_kind_known,
    ADD CONSTRAINT event_kind_known CHECK (kind IN (
        'transaction', 'renewal', 'notification', 'link', 'catalog', 'erasure', 'erased')),
    ADD CONSTRAINT event_erased_is_marked
        CHECK ((kind = 'erased') = (octet_length(salt) = 96)),
    ADD CONSTRAINT event_erased_is_blank CHECK (kind <> 'erased' OR (
        octet_length(content) = 2 AND as_of_ms = 0
        AND purchase_date_ms = 0 AND expires_date_ms = 0 AND bundle_id = ''
        AND coalesce(store, product_id, transaction_id, web_order_line_item_id,
            app_transaction_id, app_account_token, customer_id) IS NULL));
COMMENT ON COLUMN ledger.event.kind IS 'transaction, renewal (a snapshot of renewal info), notification; the operator''s own: link, catalog, erasure; erased: an event whose content was removed.';
COMMENT ON COLUMN ledger.event.salt IS 'Sixteen random bytes from which the salts of the event''s three commitments are derived. After an erasure the three one after the other: 16 bytes of salt of a part that is kept, 32 bytes of commitment to one that was removed (schema/README.md).';

ALTER TABLE ledger.confirmation
    ADD CONSTRAINT confirmation_erased_is_blank
        CHECK (octet_length(salt) <> 96
            OR (octet_length(repetitions) = 0 AND transaction_ids IS NULL));
COMMENT ON COLUMN ledger.confirmation.repetitions IS 'Which payload repeated which fields of which event, as of when, coded in a few bytes each (schema/README.md; readable with ledger.repetitions). Empty after an erasure.';

ALTER TABLE ledger.evidence
    ALTER COLUMN digest DROP NOT NULL,
    ALTER COLUMN body DROP NOT NULL,
    ADD CONSTRAINT evidence_erased_is_blank
        CHECK (digest IS NOT NULL OR (body IS NULL AND context IS NULL AND byte_count = 0));
COMMENT ON COLUMN ledger.evidence.byte_count IS 'Length of the payload; 0 where its bytes are not kept.';
COMMENT ON COLUMN ledger.evidence.digest IS 'SHA-256 of the payload; 16 zero and 16 random bytes where it came after an erasure and was not kept; NULL where it was erased.';
COMMENT ON COLUMN ledger.evidence.body IS 'The payload, packed (schema/README.md): repeated segments by reference, base64 decoded, deflated. NULL where it was erased, and where it came after an erasure and was verified at entry only.';

CREATE TRIGGER append_only_row BEFORE UPDATE ON ledger.event
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unless_blanked('event');
CREATE TRIGGER append_only_row BEFORE UPDATE ON ledger.confirmation
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unless_blanked('confirmation');
CREATE TRIGGER append_only_row BEFORE UPDATE ON ledger.evidence
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unless_blanked('evidence');
-- A row is inserted whole: one that is blank from the beginning would prove nothing. AFTER, because
-- COPY inserts rows one at a time where there is a trigger before.
CREATE TRIGGER append_only_insert AFTER INSERT ON ledger.event
    FOR EACH ROW WHEN (octet_length(NEW.salt) <> 16) EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER append_only_insert AFTER INSERT ON ledger.confirmation
    FOR EACH ROW WHEN (octet_length(NEW.salt) <> 16) EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER append_only_insert AFTER INSERT ON ledger.evidence
    FOR EACH ROW WHEN (NEW.digest IS NULL) EXECUTE FUNCTION ledger.refuse_change();
ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_insert;
ALTER TABLE ledger.confirmation ENABLE ALWAYS TRIGGER append_only_insert;
ALTER TABLE ledger.evidence ENABLE ALWAYS TRIGGER append_only_insert;
ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_row;
ALTER TABLE ledger.confirmation ENABLE ALWAYS TRIGGER append_only_row;
ALTER TABLE ledger.evidence ENABLE ALWAYS TRIGGER append_only_row;
