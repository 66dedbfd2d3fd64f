/// The heads of all lanes of a ledger at one moment: a few bytes that fix the whole log before
/// them.
///
/// Kept outside the database, a checkpoint proves later that the log still contains these commits
/// and everything that their digests cover. A lane without commits has no head.
package struct Checkpoint: Hashable, Sendable {
    /// The ledger, its number of lanes and the format with which its chains start.
    package let identity: LedgerIdentity
    /// When it was taken, on the database server's clock.
    package let takenAt: Instant
    /// The newest commit of each lane that has one, by lane.
    package let heads: [Head]

    /// The newest commit of a lane.
    package struct Head: Codable, Hashable, Sendable {
        /// The lane.
        package let lane: Int
        /// Number of the commit.
        package let commit: Int64
        /// Offset of the newest event up to the commit; 0 if there is none.
        package let offset: Int64
        /// Number of the newest payload up to the commit.
        package let evidence: Int64
        /// Digest of the commit, which covers all before it.
        package let digest: Digest

        /// The head of a lane, from its columns.
        package init(lane: Int, commit: Int64, offset: Int64, evidence: Int64, digest: Digest) {
            self.lane = lane
            self.commit = commit
            self.offset = offset
            self.evidence = evidence
            self.digest = digest
        }
    }

    /// A checkpoint; nil unless each head belongs to a different lane of the ledger, lanes ascend,
    /// and the numbers are possible.
    package init?(identity: LedgerIdentity, takenAt: Instant, heads: [Head]) {
        guard identity.ledgerId.count == Checkpoint.ledgerIdByteCount,
            zip(heads, heads.dropFirst()).allSatisfy({ $0.lane < $1.lane }),
            heads.allSatisfy({ head in
                (0..<identity.lanes.value).contains(head.lane) && head.commit >= 1
                    && head.offset >= 0 && head.evidence >= 1
            })
        else { return nil }
        self.identity = identity
        self.takenAt = takenAt
        self.heads = heads
    }

    private static let ledgerIdByteCount = 16
    private static let domain = "subledger/checkpoint"
}

extension Checkpoint {
    /// The bytes that a signature covers, as specified in `schema/README.md`.
    package var canonicalBytes: [UInt8] {
        var writer = ByteWriter()
        writer.prefixed(Checkpoint.domain)
        writer.raw(identity.ledgerId)
        writer.integer(UInt32(truncatingIfNeeded: identity.formatVersion))
        writer.integer(UInt32(identity.lanes.value))
        writer.instant(takenAt)
        writer.integer(UInt32(heads.count))
        for head in heads {
            writer.integer(UInt32(head.lane))
            writer.integer(head.commit)
            writer.integer(head.offset)
            writer.integer(head.evidence)
            writer.raw(head.digest.bytes)
        }
        return writer.bytes
    }

    /// The checkpoint with exactly these canonical bytes; nil for anything else.
    package init?(canonicalBytes bytes: [UInt8]) {
        var reader = ByteReader(bytes[...])
        guard reader.prefixed().map(Array.init) == Array(Checkpoint.domain.utf8),
            let ledgerId = reader.raw(Checkpoint.ledgerIdByteCount),
            let format = reader.integer(UInt32.self),
            let lanes = reader.integer(UInt32.self).flatMap({ LaneCount(Int($0)) }),
            let takenAt = reader.integer(Int64.self),
            let count = reader.integer(UInt32.self), count <= UInt32(LaneCount.maximum)
        else { return nil }
        var heads: [Head] = []
        for _ in 0..<count {
            guard let head = Head(&reader) else { return nil }
            heads.append(head)
        }
        guard reader.isAtEnd else { return nil }
        self.init(
            identity: LedgerIdentity(
                ledgerId: Array(ledgerId),
                lanes: lanes,
                formatVersion: Int(format)
            ),
            takenAt: Instant(milliseconds: takenAt),
            heads: heads
        )
    }
}

extension Checkpoint.Head {
    fileprivate init?(_ reader: inout ByteReader) {
        guard let lane = reader.integer(UInt32.self), let commit = reader.integer(Int64.self),
            let offset = reader.integer(Int64.self), let evidence = reader.integer(Int64.self),
            let digest = reader.raw(Digest.byteCount).flatMap({ Digest(bytes: $0) })
        else { return nil }
        self.init(
            lane: Int(lane),
            commit: commit,
            offset: offset,
            evidence: evidence,
            digest: digest
        )
    }
}
