internal import Events
internal import Postgres

/// Reads events and confirmations out of rows; the one place that knows the order of the columns.
enum EventRows {
    /// The columns of an event that its canonical bytes need, from table alias `e`.
    static let columns = """
        e.lane, e.lane_offset, e.recorded_at, e.as_of_ms, e.purchase_date_ms, e.expires_date_ms,
        e.environment, e.original_transaction_id, e.kind, e.bundle_id, e.evidence_digest, e.content
        """

    /// The event in a row of `columns`.
    static func event(in row: borrowing some PostgresFields & ~Copyable) throws -> Event {
        let position = Position(
            lane: Int(try row.int4(0)),
            offset: try row.int8(1)
        )
        guard let kind = Kind(rawValue: try row.text(8)),
            let evidence = Digest(bytes: try row.bytea(10)),
            let content = Content(canonicalBytes: try row.bytea(11))
        else {
            throw malformed(position)
        }
        let fact = Fact(
            stream: StreamID(
                environment: Environment(try row.text(6)),
                originalTransactionId: try row.text(7)
            ),
            bundleId: try row.text(9),
            kind: kind,
            purchaseDate: Instant(milliseconds: try row.int8(4)),
            expiresDate: Instant(milliseconds: try row.int8(5)),
            asOf: Instant(milliseconds: try row.int8(3)),
            content: content
        )
        return Event(
            position: position,
            recordedAt: Instant(microseconds: try row.timestamptz(2)),
            fact: fact,
            evidence: evidence
        )
    }

    /// The error for an event whose columns cannot be read back.
    static func malformed(_ position: Position) -> EventLogError {
        EventLogError(
            .malformedLog,
            "event \(position.lane):\(position.offset) does not have the form that this program "
                + "writes; run `subledger verify`"
        )
    }

    /// The columns of a confirmation, from table alias `c`.
    static let confirmationColumns = "c.lane, c.lane_offset, c.as_of_ms, c.fields, c.transaction_id"

    /// The confirmation in a row of `confirmationColumns`.
    static func confirmation(
        in row: borrowing some PostgresFields & ~Copyable
    ) throws(PostgresError) -> Confirmation {
        Confirmation(
            position: Position(lane: Int(try row.int4(0)), offset: try row.int8(1)),
            asOf: Instant(milliseconds: try row.int8(2)),
            fields: FieldSet(rawValue: UInt64(bitPattern: try row.int8(3))),
            transactionId: try row.text(4)
        )
    }
}
