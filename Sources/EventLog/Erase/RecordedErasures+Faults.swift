internal import Events
internal import Postgres

// What an erasure must have removed.
extension RecordedErasures {
    /// What is wrong with an erasure, and at which offset; nil if it proves what it removed.
    func fault(
        of one: Recorded,
        _ session: PostgresSession
    ) async throws -> (offset: Int64, reason: String)? {
        let (lane, offset) = (one.position.lane.number, one.position.offset)
        guard let erasure = one.erasure else {
            return (offset, "the erasure does not have the format of this program")
        }
        guard erasure.removesRows else {
            return (offset, "the erasure lists no event and no confirmation, so it removed nothing")
        }
        guard
            one.asOf.milliseconds
                <= one.recordedAt.milliseconds.addingWithinRange(
                    RecordedErasures.skewMillisecondsMax
                )
        else {
            return (
                offset,
                "the erasure is dated \(one.asOf), after its commit: it would refuse facts that were "
                    + "not known then"
            )
        }

        guard try await isDone(erasure, of: one.stream, lane: lane, session) else {
            return (offset, "what the erasure lists as erased still exists, or never existed")
        }
        guard let left = try await firstLeft(by: erasure, one, session) else { return nil }
        return (
            left,
            "event \(offset) erased the \(erasure.scope.rawValue), but left out an event or a "
                + "confirmation that was there: what is left gives another answer"
        )
    }

    /// How far the time of an erasure may be after that of its commit: as far as the two clocks may
    /// differ.
    private static let skewMillisecondsMax: Int64 = 300_000

    // An erasure that took only some of the events would change the answer, so it must have taken
    // all that its scope covers. Which customer a link named is no longer known.
    private func firstLeft(
        by erasure: Erasure,
        _ one: Recorded,
        _ session: PostgresSession
    ) async throws -> Int64? {
        guard erasure.scope.isLasting else { return nil }
        let rows = try await session.query(
            RecordedErasures.leftEvents,
            RecordedErasures.place(one)
                + [
                    .int8(one.position.offset),
                    .int4(RecordedErasures.saltByteCount(erasure.scope.parts)),
                ]
        )
        for row in rows {
            guard erasure.scope == .customer else { return try row.int8(0) }
            let content = Content(canonicalBytes: try row.bytea(2))
            guard try row.text(1) != Kind.link.rawValue else { continue }
            if try row.bool(3) || content?.identifiesPerson != false { return try row.int8(0) }
        }
        guard erasure.scope == .subscription else { return nil }
        let left = try await session.query(
            RecordedErasures.leftConfirmations,
            RecordedErasures.place(one) + [.int8(one.position.offset)]
        )
        return try left[0].int8IfPresent(0)
    }

    private static func place(_ one: Recorded) -> [PostgresValue] {
        [
            .int4(Int32(one.position.lane.number)), .text(one.stream.environment.word),
            .text(one.stream.originalTransactionId),
        ]
    }

    // Everything that an erasure recorded as removed must be gone, wherever in the lane it was.
    private func isDone(
        _ erasure: Erasure,
        of stream: StreamID,
        lane: Int,
        _ session: PostgresSession
    ) async throws -> Bool {
        let place: [PostgresValue] = [
            .int4(Int32(lane)), .text(stream.environment.word),
            .text(stream.originalTransactionId),
        ]
        let found = try await session.pipeline([
            PostgresStatement(
                RecordedErasures.blankEvents,
                place + RecordedErasures.bounds(erasure.events)
                    + [.int4(RecordedErasures.saltByteCount(erasure.scope.parts))]
            ),
            PostgresStatement(
                RecordedErasures.blankConfirmations,
                place + RecordedErasures.bounds(erasure.confirmations)
                    + [.int4(erasure.scope == .subscription ? 96 : 64)]
            ),
            PostgresStatement(
                RecordedErasures.goneEvidence,
                [.int4(Int32(lane))] + RecordedErasures.bounds(erasure.evidence)
            ),
        ])
        return try found[0][0].int8(0) == erasure.events.count
            && found[1][0].int8(0) == erasure.confirmations.count
            && found[2][0].int8(0) == erasure.evidence.count
    }

    private static func bounds(_ numbers: NumberRanges) -> [PostgresValue] {
        [
            .int8Array(numbers.ranges.map(\.lowerBound)),
            .int8Array(numbers.ranges.map(\.upperBound)),
        ]
    }

    private static func saltByteCount(_ parts: ErasedParts) -> Int32 {
        switch parts {
        case .nothing: 16
        case .payload: 64
        case .person: 80
        case .everything: 96
        }
    }

    private static let blankEvents = """
        SELECT count(*) FROM unnest($4::bigint[], $5::bigint[]) AS r (low, high)
        JOIN ledger.event e ON e.lane = $1 AND e.lane_offset BETWEEN r.low AND r.high
        WHERE e.environment = $2 AND e.original_transaction_id = $3
            AND octet_length(e.salt) >= $6::int
        """

    private static let blankConfirmations = """
        SELECT count(DISTINCT c.commit_no)
        FROM unnest($4::bigint[], $5::bigint[]) AS r (low, high)
        JOIN ledger.confirmation c ON c.lane = $1 AND c.commit_no BETWEEN r.low AND r.high
        WHERE c.environment = $2 AND c.original_transaction_id = $3
            AND octet_length(c.salt) >= $6::int
        """

    private static let goneEvidence = """
        SELECT count(*) FROM unnest($2::bigint[], $3::bigint[]) AS r (low, high)
        JOIN ledger.evidence v ON v.lane = $1 AND v.evidence_no BETWEEN r.low AND r.high
        WHERE v.digest IS NULL
        """

    private static let leftEvents = """
        SELECT e.lane_offset, e.kind, e.content, EXISTS (
                SELECT FROM ledger.evidence v
                WHERE v.lane = $1 AND v.evidence_no = e.evidence_no AND v.byte_count > 0)
        FROM ledger.event e
        WHERE e.lane = $1 AND e.environment = $2 AND e.original_transaction_id = $3
            AND e.lane_offset < $4 AND e.kind <> 'erasure' AND octet_length(e.salt) < $5::int
        ORDER BY e.lane_offset
        """

    private static let leftConfirmations = """
        SELECT min(c.known_from_offset) FROM ledger.confirmation c
        WHERE c.lane = $1 AND c.environment = $2 AND c.original_transaction_id = $3
            AND c.known_from_offset <= $4 AND octet_length(c.salt) < 96
        """
}
