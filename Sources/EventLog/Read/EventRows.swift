internal import Events
internal import Postgres

/// Decodes events and confirmations from rows; the only place that knows the order of the columns.
package enum EventRows {
    /// The columns of an event that its canonical bytes need, from table alias `e`.
    package static let columns = """
        e.lane, e.lane_offset, e.recorded_at, e.as_of_ms, e.purchase_date_ms, e.expires_date_ms,
        e.environment, e.original_transaction_id, e.kind, e.bundle_id, e.evidence_no, e.content,
        e.is_imported, e.salt
        """

    /// The events in rows of `columns` that come by offset.
    ///
    /// Throws `malformedLog` if one cannot be read, or if an offset comes twice: without its key, the
    /// table accepts any number of events there.
    static func events(in rows: PostgresRows, lane: Lane) throws -> [Event] {
        var events: [Event] = []
        events.reserveCapacity(rows.count)
        for row in rows {
            let event = try event(in: row, lane: lane)
            if let last = events.last, last.position >= event.position {
                throw EventLogError(
                    .malformedLog,
                    "offset \(lane.number):\(event.position.offset) has more than one "
                        + "event; run `subledger verify`"
                )
            }
            events.append(event)
        }
        return events
    }

    /// The event in a row of `columns`, of any lane of a ledger.
    static func event(
        in row: borrowing some PostgresFields & ~Copyable,
        of lanes: LaneCount
    ) throws -> Event {
        try event(in: row, lane: lanes[Int(try row.int4(0))])
    }

    /// The event in a row of `columns`, of that lane.
    static func event(
        in row: borrowing some PostgresFields & ~Copyable,
        lane: Lane
    ) throws -> Event {
        let position = Position(lane: lane, offset: try row.int8(1))
        guard let kind = Kind(rawValue: try row.text(8)),
            let content = Content(canonicalBytes: try row.bytea(11))
        else {
            throw malformed(position)
        }
        let fact = Fact(
            stream: try row.stream(6),
            bundleId: try row.text(9),
            kind: kind,
            purchaseDate: Instant(milliseconds: try row.int8(4)),
            expiresDate: Instant(milliseconds: try row.int8(5)),
            asOf: Instant(milliseconds: try row.int8(3)),
            content: content
        )
        let salt = try row.bytea(13).count
        guard let erased = CommitmentKeys.erased(inStored: salt), fact.hasInstantsOfCalendar,
            (1...Position.offsetMax).contains(position.offset)
        else { throw malformed(position) }

        return Event(
            position: position,
            recordedAt: Instant(microseconds: try row.timestamptz(2)),
            fact: fact,
            evidence: try row.int8(10),
            isImported: try row.bool(12),
            erased: erased
        )
    }

    /// The error for an event whose columns cannot be read back.
    static func malformed(_ position: Position) -> EventLogError {
        EventLogError(
            .malformedLog,
            "event \(position.lane.number):\(position.offset) does not have the form that this program "
                + "writes; run `subledger verify`"
        )
    }

    /// The columns of a row of confirmations, from table alias `c`.
    static let confirmationColumns = """
        c.environment, c.original_transaction_id, c.as_of_ms, c.evidence_no, c.repetitions,
        c.transaction_ids
        """

    /// What the row of table alias `c` repeats, a line each.
    ///
    /// Column by column, because on Citus the row has the type of its shard.
    static let repetitions = """
        ledger.repetitions(ROW(c.lane, c.commit_no, c.known_from_offset, c.recorded_at, c.as_of_ms,
            c.evidence_no, c.environment, c.original_transaction_id, c.salt, c.repetitions,
            c.transaction_ids)::ledger.confirmation)
        """

    /// The row in the columns of `confirmationColumns`.
    static func confirmationRow(
        in row: borrowing some PostgresFields & ~Copyable
    ) throws -> ConfirmationRow {
        ConfirmationRow(
            stream: try row.stream(0),
            asOf: Instant(milliseconds: try row.int8(2)),
            evidence: try row.int8(3),
            repetitions: try row.bytea(4),
            transactionIds: try row.textArray(5)?.compactMap { $0 } ?? []
        )
    }

    /// The confirmations in the columns of `confirmationColumns`; empty if they were erased.
    static func confirmations(
        in row: borrowing some PostgresFields & ~Copyable,
        lane: Lane
    ) throws -> [Confirmation] {
        let found = try confirmationRow(in: row)
        guard !found.repetitions.isEmpty else { return [] }
        guard let confirmations = found.confirmations(lane: lane),
            confirmations.allSatisfy({ Instant.calendar.contains($0.asOf) })
        else {
            throw EventLogError(
                .malformedLog,
                "a confirmation of \(found.stream.originalTransactionId) does not have the form that "
                    + "this program writes; run `subledger verify`"
            )
        }
        return confirmations
    }
}

extension PostgresFields where Self: ~Copyable {
    /// The subscription in two columns: its environment, then its id.
    func stream(_ column: Int) throws(PostgresError) -> StreamID {
        StreamID(
            environment: StoreEnvironment(try text(column)),
            originalTransactionId: try text(column + 1)
        )
    }
}

extension StreamID {
    /// The first columns of the tables that have rows of a subscription.
    func key(inLane lane: Int) -> [PostgresValue] {
        [.int4(Int32(lane)), .text(environment.word), .text(originalTransactionId)]
    }
}
