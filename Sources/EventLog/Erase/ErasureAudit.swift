internal import Events
internal import Postgres

/// What is missing from a part of a lane, to be compared with what erasures recorded.
///
/// Its memory grows with the number of erased rows.
struct ErasureAudit: Sendable {
    private(set) var events: [Int64: (stream: StreamID, parts: ErasedParts)] = [:]
    private(set) var confirmations: [Int64: (commit: Commit, streams: [StreamID: ErasedParts])] =
        [:]
    /// Erased payloads, by number, with the commit that brought them.
    private(set) var evidence: [Int64: Commit] = [:]

    /// Adds an event as stored.
    mutating func take(_ event: Event) {
        guard event.erased != .nothing else { return }
        events[event.position.offset] = (event.fact.stream, event.erased)
    }

    /// Adds a row of confirmations of that commit.
    mutating func take(_ stream: StreamID, commit: Commit, erased parts: ErasedParts) {
        guard parts != .nothing else { return }
        let known = confirmations[commit.number]?.streams[stream] ?? parts
        confirmations[commit.number, default: (commit, [:])].streams[stream] = max(known, parts)
    }

    /// Adds the number of an erased payload.
    mutating func take(erasedEvidence number: Int64, commit: Commit) {
        evidence[number] = commit
    }

    /// Adds the findings from another part of the lane.
    mutating func formUnion(_ other: ErasureAudit) {
        events.merge(other.events) { $1 }
        confirmations.merge(other.confirmations) { own, other in
            (own.commit, own.streams.merging(other.streams) { max($0, $1) })
        }
        evidence.merge(other.evidence) { $1 }
    }
}

/// The erasures of a log, compared with what is missing in it.
///
/// Content that is missing without an erasure is a fault, and so is content that an erasure
/// recorded as removed but that still exists.
struct RecordedErasures {
    struct Recorded {
        let position: Position
        let stream: StreamID
        let erasure: Erasure?
        let asOf: Instant
        let recordedAt: Instant

        // It can only have removed what was there.
        func follows(_ commit: Commit) -> Bool { position.offset > commit.lastOffset }

        func lists(rowOf commit: Commit) -> Bool {
            guard let erasure else { return false }
            return erasure.confirmations.contains(commit.number)
                || erasure.events.ranges.contains {
                    $0.upperBound >= commit.firstOffset && $0.lowerBound <= commit.lastOffset
                }
        }
    }

    private let recorded: [Int: [Recorded]]

    /// Reads the erasures of all lanes.
    init(of lanes: LaneCount, _ session: PostgresSession) async throws {
        let rows = try await session.query(
            """
            SELECT lane, lane_offset, environment, original_transaction_id, content, as_of_ms,
                recorded_at
            FROM ledger.event WHERE kind = 'erasure' ORDER BY lane, lane_offset
            """
        )
        var recorded: [Int: [Recorded]] = [:]
        for row in rows {
            let position = Position(lane: lanes[Int(try row.int4(0))], offset: try row.int8(1))
            recorded[position.lane.number, default: []].append(
                Recorded(
                    position: position,
                    stream: StreamID(
                        environment: StoreEnvironment(try row.text(2)),
                        originalTransactionId: try row.text(3)
                    ),
                    erasure: Content(canonicalBytes: try row.bytea(4)).flatMap { Erasure($0) },
                    asOf: Instant(milliseconds: try row.int8(5)),
                    recordedAt: Instant(microseconds: try row.timestamptz(6))
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
            if let (offset, reason) = try await fault(of: one, session) {
                return try await mismatch(lane: lane, offset: offset, reason, session)
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

        for (number, (commit, streams)) in found.confirmations.sorted(by: { $0.key < $1.key }) {
            for (stream, parts) in streams
            where !erasures.contains(where: {
                $0.stream == stream && $0.follows(commit)
                    && $0.erasure?.confirmations.contains(number) == true
                    && ($0.erasure?.scope == .subscription) == (parts == .everything)
            }) {
                return VerificationReport.Mismatch(
                    lane: lane,
                    commit: number,
                    offset: nil,
                    reason: "confirmations are missing, and no erasure lists them"
                )
            }
        }

        for (number, commit) in found.evidence.sorted(by: { $0.key < $1.key })
        where !erasures.contains(where: {
            $0.erasure?.evidence.contains(number) == true && $0.follows(commit)
                && $0.lists(rowOf: commit)
        }) {
            return VerificationReport.Mismatch(
                lane: lane,
                commit: commit.number,
                offset: nil,
                reason: "evidence \(number) is missing, and no erasure lists it"
            )
        }
        return nil
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
}
