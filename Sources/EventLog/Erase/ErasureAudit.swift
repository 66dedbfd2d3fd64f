internal import Events
internal import Postgres

/// What is missing from a part of a lane, to be compared with what erasures recorded.
///
/// Its memory grows with the number of erased rows.
struct ErasureAudit: Sendable {
    private(set) var events: [Int64: (stream: StreamID, parts: ErasedParts)] = [:]
    private(set) var confirmations: [Int64: [StreamID: ErasedParts]] = [:]
    /// Erased payloads, by number, with the commit that brought them.
    private(set) var evidence: [Int64: Int64] = [:]

    /// Adds an event as stored.
    mutating func take(_ event: Event) {
        guard event.erased != .nothing else { return }
        events[event.position.offset] = (event.fact.stream, event.erased)
    }

    /// Adds a row of confirmations of that commit.
    mutating func take(_ stream: StreamID, commit: Int64, erased parts: ErasedParts) {
        guard parts != .nothing else { return }
        let known = confirmations[commit]?[stream] ?? parts
        confirmations[commit, default: [:]][stream] = max(known, parts)
    }

    /// Adds the number of an erased payload.
    mutating func take(erasedEvidence number: Int64, commit: Int64) {
        evidence[number] = commit
    }

    /// Adds the findings from another part of the lane.
    mutating func formUnion(_ other: ErasureAudit) {
        events.merge(other.events) { $1 }
        confirmations.merge(other.confirmations) { $0.merging($1) { max($0, $1) } }
        evidence.merge(other.evidence) { $1 }
    }
}

/// The erasures of a log, compared with what is missing in it.
///
/// Content that is missing without an erasure is a fault, and so is content that an erasure
/// recorded as removed but that still exists.
struct RecordedErasures {
    private struct Recorded {
        let position: Position
        let stream: StreamID
        let erasure: Erasure?
    }

    private let recorded: [Int: [Recorded]]

    /// Reads the erasures of all lanes.
    init(_ session: PostgresSession) async throws {
        let rows = try await session.query(
            """
            SELECT lane, lane_offset, environment, original_transaction_id, content
            FROM ledger.event WHERE kind = 'erasure' ORDER BY lane, lane_offset
            """
        )
        var recorded: [Int: [Recorded]] = [:]
        for row in rows {
            let position = Position(lane: Int(try row.int4(0)), offset: try row.int8(1))
            recorded[position.lane, default: []].append(
                Recorded(
                    position: position,
                    stream: StreamID(
                        environment: Environment(try row.text(2)),
                        originalTransactionId: try row.text(3)
                    ),
                    erasure: Content(canonicalBytes: try row.bytea(4)).flatMap { Erasure($0) }
                )
            )
        }
        self.recorded = recorded
    }

    /// The first fault of a lane; nil if its erasures match what is missing.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - found: What is missing in the verified part.
    ///   - offsets: The offsets of the verified part: erasures in it must have been completed.
    ///   - session: A connection that nothing else uses in the meantime.
    /// - Returns: The fault.
    /// - Throws: What the database refused.
    func fault(
        lane: Int,
        _ found: ErasureAudit,
        offsets: Range<Int64>,
        _ session: PostgresSession
    ) async throws -> VerificationReport.Mismatch? {
        let erasures = recorded[lane, default: []]
        for one in erasures where offsets.contains(one.position.offset) {
            guard let erasure = one.erasure else {
                return try await mismatch(
                    lane: lane,
                    offset: one.position.offset,
                    "the erasure does not have the format of this program",
                    session
                )
            }
            guard try await isDone(erasure, of: one.stream, lane: lane, session) else {
                return try await mismatch(
                    lane: lane,
                    offset: one.position.offset,
                    "what the erasure lists as erased still exists, or never existed",
                    session
                )
            }
        }
        return try await unexplained(found, by: erasures, lane: lane, session)
    }

    // An erasure must account for everything that is missing.
    private func unexplained(
        _ found: ErasureAudit,
        by erasures: [Recorded],
        lane: Int,
        _ session: PostgresSession
    ) async throws -> VerificationReport.Mismatch? {
        for (offset, gone) in found.events.sorted(by: { $0.key < $1.key })
        where !erasures.contains(where: {
            $0.stream == gone.stream && $0.position.offset > offset
                && $0.erasure?.scope.parts == gone.parts
                && $0.erasure?.events.contains(offset) == true
        }) {
            return try await mismatch(
                lane: lane,
                offset: offset,
                "content of the event is missing, and no erasure lists it",
                session
            )
        }
        for (commit, streams) in found.confirmations.sorted(by: { $0.key < $1.key }) {
            for (stream, parts) in streams
            where !erasures.contains(where: {
                $0.stream == stream && $0.erasure?.confirmations.contains(commit) == true
                    && ($0.erasure?.scope == .subscription) == (parts == .everything)
            }) {
                return VerificationReport.Mismatch(
                    lane: lane,
                    commit: commit,
                    offset: nil,
                    reason: "confirmations are missing, and no erasure lists them"
                )
            }
        }
        for (number, commit) in found.evidence.sorted(by: { $0.key < $1.key })
        where !erasures.contains(where: { $0.erasure?.evidence.contains(number) == true }) {
            return VerificationReport.Mismatch(
                lane: lane,
                commit: commit,
                offset: nil,
                reason: "evidence \(number) is missing, and no erasure lists it"
            )
        }
        return nil
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

    private func mismatch(
        lane: Int,
        offset: Int64,
        _ reason: String,
        _ session: PostgresSession
    ) async throws -> VerificationReport.Mismatch {
        let rows = try await session.query(
            "SELECT max(commit_no) FROM ledger.commit WHERE lane = $1 AND first_offset <= $2",
            [.int4(Int32(lane)), .int8(offset)]
        )
        return VerificationReport.Mismatch(
            lane: lane,
            commit: try rows[0].int8IfPresent(0) ?? 1,
            offset: offset,
            reason: reason
        )
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
}
