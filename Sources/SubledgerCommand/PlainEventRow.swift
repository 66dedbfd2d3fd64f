import EventLog
import Events
import Postgres

/// A row of `ledger.event` as a plain client would write it.
struct PlainEventRow {
    let values: [PostgresValue]

    init(_ verified: Verified<[Fact]>, _ index: Int, offset: Int64) {
        self.init(
            Event(
                position: Position(lane: 0, offset: offset),
                recordedAt: .systemClock(),
                fact: verified.value[index],
                evidence: verified.evidence.digest
            )
        )
    }

    init(_ event: Event) {
        let fact = event.fact
        let content = fact.content
        values = [
            .int4(Int32(event.position.lane)), .int8(event.position.offset),
            .timestamptz(microseconds: event.recordedAt.milliseconds * 1000),
            .int8(fact.asOf.milliseconds), .int8(fact.purchaseDate.milliseconds),
            .int8(fact.expiresDate.milliseconds), .text(fact.stream.environment.word),
            .text(fact.stream.originalTransactionId), .text(fact.kind.rawValue),
            .text(fact.bundleId), .text(content.text(.productId)),
            .text(content.text(.transactionId)), .text(content.text(.appAccountToken)),
            .text(content.text(.notificationType)), .text(content.text(.subtype)),
            .bytea(content.digest), .bytea(event.evidence.bytes),
            .bytea(content.canonicalBytes),
        ]
    }

    private static let columns = """
        lane, lane_offset, recorded_at, as_of_ms, purchase_date_ms, expires_date_ms, environment,
        original_transaction_id, kind, bundle_id, product_id, transaction_id, app_account_token,
        notification_type, subtype, content_digest, evidence_digest, content
        """

    static func insert(into table: String) -> String {
        """
        INSERT INTO \(table) (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
            $12, $13, $14, $15, $16, $17, $18)
        """
    }

    static func copy(into table: String) -> String {
        "COPY \(table) (\(columns)) FROM STDIN (FORMAT BINARY)"
    }

    static func insertEvidence(into table: String) -> String {
        """
        INSERT INTO \(table) (lane, byte_count, received_at, digest, kind, source,
            verification, root_digest, header_digest, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """
    }

    static func evidence(
        _ evidence: Evidence,
        _ packed: EvidencePacking.Packed
    ) -> [PostgresValue] {
        [
            .int4(0), .int4(Int32(evidence.payload.count)),
            .timestamptz(microseconds: evidence.receivedAt.milliseconds * 1000),
            .bytea(evidence.digest.bytes), .text(evidence.kind.rawValue), .text(evidence.source),
            .text(evidence.verification.trust.rawValue), .bytea(evidence.verification.root?.bytes),
            .bytea(packed.segments.first?.digest.bytes), .bytea(packed.body),
        ]
    }
}
