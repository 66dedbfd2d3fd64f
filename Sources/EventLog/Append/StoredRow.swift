package import Events
package import Postgres

/// The rows of the log as they are written, with columns and values in the same order.
package enum StoredRow {
    /// The fields that are repeated in columns of their own, in the order of the columns.
    static let typedFields: [Field] = [
        .productId, .transactionId, .webOrderLineItemId, .appTransactionId, .appAccountToken,
        .customerId,
    ]

    /// Their columns.
    static let typedColumns = """
        product_id, transaction_id, web_order_line_item_id, app_transaction_id, app_account_token,
        customer_id
        """

    /// The columns of an event.
    package static let eventColumns = """
        lane, recorded_at, is_imported, is_late, lane_offset, as_of_ms, purchase_date_ms,
        expires_date_ms, evidence_no, fact_key, environment, original_transaction_id, kind,
        bundle_id, \(typedColumns), salt, content
        """

    /// The value of a field's column; nil for a product that only a renewal snapshot names, because
    /// it was not bought.
    static func typed(_ field: Field, of fact: Fact) -> String? {
        guard field != .productId || fact.kind == .transaction else { return nil }
        return fact.content.text(field)
    }

    static let eventTarget = "ledger.event (\(eventColumns))"

    /// The values of an event, in the order of `eventColumns`.
    package static func event(
        _ event: Event,
        key: [UInt8],
        salt: Salt,
        isLate: Bool
    ) -> [PostgresValue] {
        let fact = event.fact
        let content = fact.content
        return [
            .int4(Int32(event.position.lane.number)),
            .timestamptz(microseconds: event.recordedAt.microseconds),
            .bool(event.isImported),
            .bool(isLate),
            .int8(event.position.offset),
            .int8(fact.asOf.milliseconds),
            .int8(fact.purchaseDate.milliseconds),
            .int8(fact.expiresDate.milliseconds),
            .int8(event.evidence),
            .uuid(key),
            .text(fact.stream.environment.word),
            .text(fact.stream.originalTransactionId),
            .text(fact.kind.rawValue),
            .text(fact.bundleId),
        ] + typedFields.map { .text(typed($0, of: fact)) } + [
            .bytea(salt.bytes), .bytea(content.canonicalBytes),
        ]
    }

    /// The columns of a payload.
    package static let evidenceColumns = """
        lane, commit_no, byte_count, root_key, is_imported, evidence_no, received_at, digest, kind,
        source, verification, context, body
        """

    static let evidenceTarget = "ledger.evidence (\(evidenceColumns))"

    /// The values of a payload, in the order of `evidenceColumns`.
    package static func evidence(
        _ evidence: Evidence,
        _ packed: EvidencePacking.Packed?,
        number: Int64,
        commit: Commit
    ) -> [PostgresValue] {
        [
            .int4(Int32(commit.lane)), .int8(commit.number), .int4(Int32(evidence.payload.count)),
            .int4(evidence.verification.root.map(rootKey)),
            .bool(evidence.arrival == .imported), .int8(number),
            .timestamptz(microseconds: evidence.receivedAt.microseconds),
            .bytea(evidence.digest.bytes), .text(evidence.kind.rawValue), .text(evidence.source),
            .text(evidence.verification.trust.rawValue), .text(evidence.context?.canonicalText),
            .bytea(packed?.body),
        ]
    }

    /// The key of a root certificate with this digest: its first four bytes.
    static func rootKey(_ root: Digest) -> Int32 {
        root.bytes.prefix(4).reduce(0) { $0 << 8 | Int32($1) }
    }
}
