internal import Events
internal import Postgres

/// Verifies the chains of all lanes, range by range, on several connections at once.
///
/// A range starts from the stored digest of the commit before it. That is sound because the
/// previous range computes that digest, and the two are compared where the ranges meet. The ranges
/// depend on the log alone, so the result is the same whatever the number of jobs.
struct ChainVerification {
    let identity: LedgerIdentity
    let sources: EvidenceSources
    let pool: PostgresPool
    /// The approximate number of events and payloads in a range; a commit is never split.
    let rangeRowsMax: Int
    /// Ranges verified at once; at least one.
    let jobs: Int

    /// The result for a lane.
    struct Lane {
        /// The state that its first verified commit follows.
        let start: LaneState
        /// The newest commit up to which it was verified without a gap.
        var end: LaneState
        /// The newest commit when this began.
        let last: LaneState
        var commits: Int64 = 0
        var events: Int64 = 0
        /// What was found erased in it.
        var erased = ErasureAudit()
        var mismatch: VerificationReport.Mismatch?
        /// Ranges that finished before an earlier range, by the commit they follow.
        var early: [Int64: LogVerifier.Range] = [:]
    }

    /// Verifies each lane from its start to its last commit; a lane ends at its first mismatch.
    func run(
        _ lanes: [Lane],
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> [Lane] {
        var lanes = lanes
        var dealer = RangeDealer(lanes, rowsMax: rangeRowsMax)
        let counter = SharedCounter(progress)
        try await withThrowingTaskGroup(of: LogVerifier.Range.self) { group in
            var running = 0
            while true {
                while running < jobs, let range = dealer.next(where: { lanes[$0].mismatch == nil })
                {
                    group.addTask { try await verify(range, counter) }
                    running += 1
                }
                guard let finished = try await group.next() else { break }
                running -= 1
                lanes[finished.lane].take(finished)
            }
        }
        return lanes
    }

    private func verify(
        _ range: RangeDealer.Range,
        _ counter: SharedCounter
    ) async throws -> LogVerifier.Range {
        try await pool.borrowing { session in
            var start = range.start
            if start == nil {
                let stored = try await LaneState.stored([(range.lane, range.after)], session)
                start = stored[range.lane]
            }
            guard let start else { return .unstarted(range.lane, after: range.after) }
            var verifier = LogVerifier(
                start: start,
                lanes: identity.lanes,
                sources: sources,
                session: session
            )
            // One snapshot, so an erasure cannot come between an event and its payload.
            try await session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            do {
                let verified = try await verifier.run(upTo: range.last) { counter.add($0) }
                try await session.execute("COMMIT")
                return verified
            } catch {
                await session.close()
                throw error
            }
        }
    }
}

extension ChainVerification.Lane {
    init(start: LaneState, last: LaneState) {
        self.start = start
        end = start
        self.last = last
    }

    /// Adds a range, and those after it that wait for it.
    mutating func take(_ finished: LogVerifier.Range) {
        early[finished.after] = finished
        while mismatch == nil, let next = early.removeValue(forKey: end.commit) {
            // The result of a range counts only if it follows the verified state before it.
            guard next.start == end, let reached = next.end else {
                mismatch = next.start == nil ? next.mismatch : changedMeanwhile
                break
            }
            end = reached
            commits += next.commits
            events += next.events
            erased.formUnion(next.erased)
            mismatch = next.mismatch
        }
        if mismatch != nil { early = [:] }
    }

    private var changedMeanwhile: VerificationReport.Mismatch {
        VerificationReport.Mismatch(
            lane: end.lane,
            commit: end.commit,
            reason: "its row was changed during verification"
        )
    }
}

extension LogVerifier.Range {
    /// A range whose predecessor is missing.
    fileprivate static func unstarted(_ lane: Int, after commit: Int64) -> LogVerifier.Range {
        var range = LogVerifier.Range(lane: lane, after: commit, start: nil)
        let reason = "the commit is missing"
        range.mismatch = VerificationReport.Mismatch(lane: lane, commit: commit, reason: reason)
        return range
    }
}

/// The state of a lane after a commit, which the next commit follows.
struct LaneState: Hashable, Sendable {
    let lane: Int
    let commit: Int64
    let offset: Int64
    let evidence: Int64
    let committedAt: Instant
    let digest: Digest

    /// Before the first commit.
    static func genesis(_ lane: Int, of identity: LedgerIdentity) -> LaneState {
        LaneState(
            lane: lane,
            commit: 0,
            offset: 0,
            evidence: 0,
            committedAt: Instant(milliseconds: .min),
            digest: identity.genesis(lane: lane)
        )
    }

    /// After these stored commits, at most one per lane; missing ones are left out.
    static func stored(
        _ commits: [(lane: Int, commit: Int64)],
        _ session: PostgresSession
    ) async throws -> [Int: LaneState] {
        let rows = try await session.query(
            """
            SELECT \(CommitMark.columns)
            FROM ledger.lane AS l CROSS JOIN LATERAL (
                -- LIMIT: a probe each, also where the table was never analysed. ANY: Citus asks no
                -- other shard.
                SELECT * FROM ledger.commit k
                WHERE k.lane = l.lane AND k.lane = ANY ($1)
                    AND k.commit_no = ($2)[array_position($1, l.lane)]
                LIMIT 1) c
            WHERE l.lane = ANY ($1)
            """,
            [
                .int4Array(commits.map { Int32($0.lane) }), .int8Array(commits.map(\.commit)),
            ]
        )
        return try byLane(rows)
    }

    /// After the newest stored commit of each lane, in one statement; lanes without any are left
    /// out.
    static func newest(
        _ lanes: LaneCount,
        _ session: PostgresSession
    ) async throws -> [Int: LaneState] {
        let rows = try await session.query(
            """
            SELECT \(CommitMark.columns)
            FROM ledger.lane AS l CROSS JOIN LATERAL (
                SELECT * FROM ledger.commit k
                WHERE k.lane = l.lane ORDER BY k.commit_no DESC LIMIT 1) c
            WHERE l.lane < $1
            """,
            [.int4(Int32(lanes.value))]
        )
        return try byLane(rows)
    }

    private static func byLane(_ rows: PostgresRows) throws -> [Int: LaneState] {
        let states = try rows.map { LaneState(try CommitMark(in: $0)) }
        return Dictionary(states.map { ($0.lane, $0) }) { $1 }
    }
}

extension LaneState {
    /// After a commit, verified or not yet.
    init(_ mark: CommitMark) {
        self.init(
            lane: mark.commit.lane,
            commit: mark.commit.number,
            offset: mark.commit.lastOffset,
            evidence: mark.commit.lastEvidence,
            committedAt: mark.commit.committedAt,
            digest: mark.digest
        )
    }
}

/// Splits lanes into ranges of commits, one after another.
private struct RangeDealer {
    /// A run of commits of a lane.
    struct Range {
        let lane: Int
        /// The commit before its first.
        let after: Int64
        /// Its last commit.
        let last: Int64
        /// What its first commit follows, if it need not be read.
        let start: LaneState?
    }

    private let lanes: [ChainVerification.Lane]
    private var index = 0
    private let rowsMax: Int
    private var after: Int64?

    init(_ lanes: [ChainVerification.Lane], rowsMax: Int) {
        self.lanes = lanes
        self.rowsMax = rowsMax
    }

    /// The next range of a wanted lane; nil after the last.
    mutating func next(where isWanted: (Int) -> Bool) -> Range? {
        while index < lanes.count {
            let lane = lanes[index]
            let after = self.after ?? lane.start.commit
            guard isWanted(index), after < lane.last.commit else {
                index += 1
                self.after = nil
                continue
            }
            let (sum, isBeyond) = after.addingReportingOverflow(commits(of: lane))
            let last = isBeyond ? lane.last.commit : min(sum, lane.last.commit)
            self.after = last
            return Range(
                lane: lane.start.lane,
                after: after,
                last: last,
                start: after == lane.start.commit ? lane.start : nil
            )
        }
        return nil
    }

    // The last commit is not verified yet: it may claim any numbers.
    private func commits(of lane: ChainVerification.Lane) -> Int64 {
        let commits = Double(lane.last.commit) - Double(lane.start.commit)
        let rows =
            Double(lane.last.offset) - Double(lane.start.offset) + Double(lane.last.evidence)
            - Double(lane.start.evidence)
        let count = commits * Double(rowsMax) / max(1, rows)
        return Int64(max(1, min(count, 1e15)))
    }
}
