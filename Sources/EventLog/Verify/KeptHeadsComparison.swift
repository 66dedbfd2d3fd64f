internal import Events
internal import Postgres

/// Compares recorded heads with the verified log, and collects the conclusions for each lane.
struct KeptHeadsComparison {
    private let identity: LedgerIdentity
    private let lanes: [ChainVerification.Lane]
    private var marks: [Int: LaneMarks] = [:]

    /// A comparison with a log whose lanes had these results.
    init(_ identity: LedgerIdentity, _ lanes: [ChainVerification.Lane]) {
        self.identity = identity
        self.lanes = lanes
    }

    /// Heads that are looked up in one statement.
    private static let headsMax = 10_000

    /// Compares; the stored digests have just been verified, as far as `lanes` shows.
    mutating func compare(
        _ kept: [KeptHeads],
        _ session: PostgresSession
    ) async throws -> [KeptHeadsResult] {
        let stored = try await storedHeads(of: kept.flatMap(\.heads), session)
        return kept.map { kept in
            let isOther = kept.identity.map { $0 != identity } ?? false
            return KeptHeadsResult(
                kept: kept,
                isOfOtherLedger: isOther,
                heads: isOther ? [] : kept.heads.map { judge($0, of: kept, stored) }
            )
        }
    }

    private mutating func judge(
        _ head: VerificationReport.Head,
        of kept: KeptHeads,
        _ stored: [HeadKey: VerificationReport.Head]
    ) -> KeptHeadsResult.Compared {
        let state = state(of: head, stored[HeadKey(head)])
        marks[head.lane, default: LaneMarks()].take(
            LaneEvidence.Mark(commit: head.commit, source: kept.source, takenAt: kept.takenAt),
            state,
            isOutside: kept.isOutside
        )
        return KeptHeadsResult.Compared(head: head, state: state)
    }

    private func state(
        of head: VerificationReport.Head,
        _ stored: VerificationReport.Head?
    ) -> KeptHeadsResult.State {
        guard let stored else { return .missing }
        guard stored == head else { return .differs }
        guard lanes.indices.contains(head.lane) else { return .unproven }
        let lane = lanes[head.lane]
        let isRead = head.commit > lane.start.commit && head.commit <= lane.end.commit
        return isRead ? .same : .unproven
    }

    /// The conclusions for each lane with compared heads.
    var evidence: [LaneEvidence] {
        marks.sorted { $0.key < $1.key }.map { lane, marks in marks.evidence(lane: lane) }
    }

    private func storedHeads(
        of heads: [VerificationReport.Head],
        _ session: PostgresSession
    ) async throws -> [HeadKey: VerificationReport.Head] {
        let keys = Array(Set(heads.map(HeadKey.init)))
        var found: [HeadKey: VerificationReport.Head] = [:]
        for start in stride(from: 0, to: keys.count, by: KeptHeadsComparison.headsMax) {
            let asked = keys[start..<min(start + KeptHeadsComparison.headsMax, keys.count)]
            let rows = try await session.probe(
                """
                SELECT \(CommitMark.columns)
                FROM unnest($1, $2) AS k (lane, commit_no)
                JOIN ledger.commit c ON c.lane = k.lane AND c.commit_no = k.commit_no
                """,
                [
                    .int4Array(asked.map { Int32(clamping: $0.lane) }),
                    .int8Array(asked.map(\.commit)),
                ]
            )

            for row in rows {
                let head = VerificationReport.Head(try CommitMark(in: row))
                found[HeadKey(head)] = head
            }
        }
        return found
    }
}

/// Identifies a commit.
private struct HeadKey: Hashable {
    let lane: Int
    let commit: Int64

    init(_ head: VerificationReport.Head) {
        lane = head.lane
        commit = head.commit
    }
}

/// The heads that decide about a lane; of the database's own rows, which may be many, only the
/// newest.
private struct LaneMarks {
    private var proofs: [LaneEvidence.Mark] = []
    private var newestProof: LaneEvidence.Mark?
    private var contradicted: LaneEvidence.Mark?
    private var isMissing = false

    mutating func take(
        _ mark: LaneEvidence.Mark,
        _ state: KeptHeadsResult.State,
        isOutside: Bool
    ) {
        switch state {
        case .unproven: return
        case .same:
            // A head stored in the database itself proves nothing.
            guard isOutside else { return }
            if mark.reaches(beyond: newestProof) { newestProof = mark }
            if mark.commit < contradicted?.commit ?? .max { keep(mark) }
        case .differs, .missing:
            // Whoever may insert may insert such a row.
            guard isOutside else { return }
            guard mark.commit < contradicted?.commit ?? .max else { return }
            contradicted = mark
            isMissing = state == .missing
        }
    }

    // Beyond a number of proofs only the newest ones matter, because rows come in order of time.
    private mutating func keep(_ mark: LaneEvidence.Mark) {
        proofs.append(mark)
        guard proofs.count > LaneMarks.proofsMax else { return }
        proofs.sort { $0.commit < $1.commit }
        proofs.removeFirst(LaneMarks.proofsMax / 2)
    }

    private static let proofsMax = 64

    func evidence(lane: Int) -> LaneEvidence {
        let below = contradicted.flatMap { contradicted in
            proofs.filter { $0.commit < contradicted.commit }.max { $0.commit < $1.commit }
        }
        return LaneEvidence(
            lane: lane,
            proven: newestProof,
            contradicted: contradicted,
            isMissing: isMissing,
            provenBelow: below
        )
    }
}

extension LaneEvidence.Mark {
    /// Whether it proves more: up to a later commit, or up to the same one at a later time.
    fileprivate func reaches(beyond other: LaneEvidence.Mark?) -> Bool {
        guard let other else { return true }
        guard commit == other.commit else { return commit > other.commit }
        return takenAt.map { $0 > other.takenAt ?? Instant(milliseconds: .min) } ?? false
    }
}
