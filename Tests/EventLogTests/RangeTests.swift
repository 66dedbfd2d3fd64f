import Events
import Testing

@testable import EventLog

/// How the ranges of a lane are combined.
@Suite struct RangeTests {
    private static let genesis = LaneState.genesis(
        0,
        of: LedgerIdentity(ledgerId: [UInt8](repeating: 1, count: 16), lanes: .one)
    )

    @Test func `ranges count in their order, whichever finishes first`() {
        var lane = ChainVerification.Lane(start: Self.genesis, last: Self.state(3))
        lane.take(Self.range(after: 1, Self.state(1), to: 3))
        #expect(lane.commits == 0 && lane.end == Self.genesis)
        lane.take(Self.range(after: 0, Self.genesis, to: 1))
        #expect(lane.commits == 3 && lane.end == Self.state(3) && lane.mismatch == nil)
    }

    @Test func `a range that follows a commit other than the verified one is a mismatch`() {
        var lane = ChainVerification.Lane(start: Self.genesis, last: Self.state(3))
        lane.take(Self.range(after: 1, Self.state(1, digest: 9), to: 3))
        lane.take(Self.range(after: 0, Self.genesis, to: 1))
        #expect(lane.mismatch?.commit == 1 && lane.commits == 1)
    }

    @Test func `the first mismatch of a lane is in its lowest range`() {
        var lane = ChainVerification.Lane(start: Self.genesis, last: Self.state(9))
        lane.take(Self.range(after: 6, Self.state(6), to: 6, mismatch: 7))
        lane.take(Self.range(after: 3, Self.state(3), to: 4, mismatch: 5))
        lane.take(Self.range(after: 0, Self.genesis, to: 3))
        #expect(lane.mismatch?.commit == 5 && lane.commits == 4)
    }

    private static func state(_ commit: Int64, digest: UInt8 = 0) -> LaneState {
        LaneState(
            CommitMark(
                commit: Commit(
                    lane: 0,
                    number: commit,
                    firstOffset: commit,
                    count: 1,
                    firstEvidence: commit,
                    evidence: 1,
                    confirmations: 0,
                    committedAt: Instant(milliseconds: 0)
                ),
                digest: Digest.of([UInt8(commit), digest])
            )
        )
    }

    private static func range(
        after: Int64,
        _ start: LaneState,
        to end: Int64,
        mismatch: Int64? = nil
    ) -> LogVerifier.Range {
        var range = LogVerifier.Range(lane: 0, after: after, start: start)
        range.end = state(end)
        range.commits = end - after
        range.mismatch = mismatch.map {
            VerificationReport.Mismatch(lane: 0, commit: $0, offset: nil, reason: "")
        }
        return range
    }
}
