internal import Events
internal import Postgres

// The start and end of each lane.
extension ChainVerification {
    /// The lanes from their first commit, or from a checkpoint's heads, to their newest commit.
    ///
    /// A lane whose head is missing from the log has no start, which is its mismatch.
    func lanes(since: Checkpoint?, _ session: PostgresSession) async throws -> [Lane] {
        let newest = try await LaneState.newest(identity.lanes, session)
        let lanes = (0..<identity.lanes.value).map { lane in
            let genesis = LaneState.genesis(lane, of: identity)
            return Lane(start: genesis, last: newest[lane] ?? genesis)
        }
        guard let since else { return lanes }
        // After a checkpoint of another ledger nothing can be verified; the report says so.
        guard since.identity == identity else {
            return lanes.map { Lane(start: $0.start, last: $0.start) }
        }
        let stored = try await LaneState.stored(since.heads.map { ($0.lane, $0.commit) }, session)
        var started = lanes
        for head in since.heads {
            started[head.lane] = self.lane(lanes[head.lane], after: head, stored[head.lane])
        }
        return started
    }

    private func lane(_ lane: Lane, after head: Checkpoint.Head, _ stored: LaneState?) -> Lane {
        if let stored, stored.digest == head.digest, stored.offset == head.offset,
            stored.evidence == head.evidence
        {
            return Lane(start: stored, last: lane.last)
        }
        var unstarted = Lane(start: lane.start, last: lane.start)
        unstarted.mismatch = VerificationReport.Mismatch(
            lane: head.lane,
            commit: head.commit,
            reason: (stored == nil
                ? "the log does not contain the commit of the checkpoint given with --since"
                : "the log contains another commit than the checkpoint given with --since")
                + "; run `subledger verify` without --since"
        )
        return unstarted
    }
}
