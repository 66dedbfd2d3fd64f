internal import Postgres

extension AppendLookUp {
    // One probe of a range of the unique index for each subject: LATERAL and OFFSET 0 leave the
    // planner no other order. On a log that was never analysed it would scan the whole lane and
    // look for every event among the keys. What no commit accounts for is not known: `repair`
    // removes it. This bound must stay outside of the probe: inside, the planner used the primary
    // key of the lane, and each batch of a new ledger took up to two seconds.
    static let known = """
        SELECT key.ordinal, e.lane_offset, e.as_of_ms, e.content, e.is_late, e.evidence_no
        FROM unnest($2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::bigint[], $7::bigint[],
                $8::text[])
            WITH ORDINALITY AS key (environment, id, first_key, last_key, purchase, expires, kind,
                ordinal)
        CROSS JOIN LATERAL (
            SELECT * FROM ledger.event
            WHERE lane = $1 AND original_transaction_id = key.id
                AND environment = key.environment
                AND fact_key BETWEEN key.first_key AND key.last_key
                AND purchase_date_ms = key.purchase AND expires_date_ms = key.expires
                AND kind = key.kind AND \(ScannedRow.isNotErasedLink)
            OFFSET 0) e
        WHERE e.lane_offset <= \(AppendSQL.lastOffset)
        """

    static let erasures = """
        SELECT stream.ordinal, e.lane_offset, e.as_of_ms, e.content
        FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS stream (environment, id, ordinal)
        JOIN ledger.event e ON e.kind = 'erasure' AND e.lane = $1
            AND e.original_transaction_id = stream.id AND e.environment = stream.environment
        """

    static let latest = """
        SELECT stream.ordinal, (
                SELECT c.as_of_ms FROM ledger.confirmation c
                WHERE c.lane = $1 AND c.environment = stream.environment
                    AND c.original_transaction_id = stream.id
                ORDER BY c.as_of_ms DESC LIMIT 1)
        FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS stream (environment, id, ordinal)
        """

    static let evidence = """
        SELECT v.digest, v.verification
        FROM unnest($2::bytea[]) AS asked (digest)
        CROSS JOIN LATERAL (
            SELECT * FROM ledger.evidence
            WHERE \(EvidenceSummary.isAsked) AND lane = $1
            OFFSET 0) v
        WHERE v.evidence_no <= (SELECT first_evidence_no + (evidence - 1) FROM ledger.commit
            WHERE lane = $1 ORDER BY commit_no DESC LIMIT 1)
        """

    // The events of purchases whose end was moved, or is moved by the batch: nearly always none.
    static let movedEnds = """
        SELECT stream.ordinal, e.lane_offset, e.purchase_date_ms, e.expires_date_ms, e.product_id,
            e.as_of_ms
        FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS stream (environment, id, ordinal)
        CROSS JOIN LATERAL (
            SELECT lane_offset, purchase_date_ms, expires_date_ms, product_id, as_of_ms,
                min(expires_date_ms) OVER purchase < max(expires_date_ms) OVER purchase AS is_moved
            FROM ledger.event
            WHERE lane = $1 AND original_transaction_id = stream.id
                AND environment = stream.environment
                AND kind = 'transaction' AND expires_date_ms <> 0
                AND lane_offset <= \(AppendSQL.lastOffset)
            WINDOW purchase AS (PARTITION BY purchase_date_ms, product_id)) e
        WHERE e.is_moved OR e.purchase_date_ms = ANY ($4)
        """

    static let between = """
        SELECT \(EventRows.confirmationColumns) FROM ledger.confirmation c
        WHERE c.lane = $1 AND c.environment = $2 AND c.original_transaction_id = $3
            AND c.as_of_ms BETWEEN $4 AND $5
        """

    static let trusts = """
        SELECT evidence_no, verification FROM ledger.evidence
        WHERE lane = $1 AND evidence_no = ANY ($2)
        """

    static let aliases = """
        SELECT \(EventRows.confirmationColumns) FROM ledger.confirmation c
        WHERE c.lane = $1 AND c.environment = $2 AND c.original_transaction_id = $3
            AND c.transaction_ids IS NOT NULL
        """
}
