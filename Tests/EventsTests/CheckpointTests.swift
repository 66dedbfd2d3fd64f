import Events
import Testing

/// The canonical bytes of a checkpoint.
@Suite struct CheckpointTests {
    private static let digest = Digest.of([1])

    private static func checkpoint() throws -> Checkpoint {
        let lanes = try #require(LaneCount(4))
        let identity = LedgerIdentity(ledgerId: Array(0..<16), lanes: lanes)
        let heads = [
            head(lane: 0, commit: 3, offset: 8, evidence: 5),
            head(lane: 3, commit: 1, offset: 0, evidence: 1),
        ]
        let takenAt = Instant(milliseconds: 1_790_000_000_123)
        return try #require(Checkpoint(identity: identity, takenAt: takenAt, heads: heads))
    }

    private static func head(
        lane: Int,
        commit: Int64 = 1,
        offset: Int64 = 1,
        evidence: Int64 = 1
    ) -> Checkpoint.Head {
        Checkpoint.Head(
            lane: lane,
            commit: commit,
            offset: offset,
            evidence: evidence,
            digest: digest
        )
    }

    @Test func `the canonical bytes are read back as the same checkpoint`() throws {
        let checkpoint = try Self.checkpoint()
        #expect(Checkpoint(canonicalBytes: checkpoint.canonicalBytes) == checkpoint)
    }

    @Test func `every changed, missing or extra byte gives another checkpoint or none`() throws {
        let checkpoint = try Self.checkpoint()
        let bytes = checkpoint.canonicalBytes
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(Checkpoint(canonicalBytes: changed) != checkpoint, "byte \(index)")
            #expect(Checkpoint(canonicalBytes: Array(bytes[..<index])) == nil)
        }
        #expect(Checkpoint(canonicalBytes: bytes + [0]) == nil)
    }

    @Test func `heads name existing lanes, in order, with possible numbers`() throws {
        let identity = try Self.checkpoint().identity
        let refused: [[Checkpoint.Head]] = [
            [Self.head(lane: 4)], [Self.head(lane: -1)], [Self.head(lane: 1), Self.head(lane: 1)],
            [Self.head(lane: 2), Self.head(lane: 1)], [Self.head(lane: 0, commit: 0)],
            [Self.head(lane: 0, offset: -1)], [Self.head(lane: 0, evidence: 0)],
        ]
        for heads in refused {
            let checkpoint = Checkpoint(
                identity: identity,
                takenAt: Instant(milliseconds: 0),
                heads: heads
            )
            #expect(checkpoint == nil, "\(heads)")
        }
    }
}
