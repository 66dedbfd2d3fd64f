internal import Crypto

/// One append to one lane: a link of the lane's chain of digests.
package struct Commit: Codable, Hashable, Sendable {
    /// The lane.
    package let lane: Int
    /// From 1, without holes.
    package let number: Int64
    /// Offset of its first event; the next free offset if the commit has only confirmations.
    package let firstOffset: Int64
    /// Number of events.
    package let count: Int
    /// Number of its first payload; payloads of a lane are numbered from 1, without holes.
    package let firstEvidence: Int64
    /// Number of payloads.
    package let evidence: Int
    /// Number of confirmations.
    package let confirmations: Int
    /// When it was committed, on the server's clock, in whole milliseconds.
    package let committedAt: Instant
    /// Version of the canonical bytes of the commit and of everything in it.
    package let format: Int

    /// A commit's own columns, without its digest.
    package init(
        lane: Int,
        number: Int64,
        firstOffset: Int64,
        count: Int,
        firstEvidence: Int64,
        evidence: Int,
        confirmations: Int,
        committedAt: Instant,
        format: Int = LedgerIdentity.format
    ) {
        self.lane = lane
        self.number = number
        self.firstOffset = firstOffset
        self.count = count
        self.firstEvidence = firstEvidence
        self.evidence = evidence
        self.confirmations = confirmations
        self.committedAt = committedAt
        self.format = format
    }

    /// Offset of its last event, or of the last event before it if it has none; `Int64.max` if a
    /// tampered row exceeds all numbers.
    package var lastOffset: Int64 { Commit.last(of: firstOffset, count) }

    /// Number of its last payload; `Int64.max` as in `lastOffset`.
    package var lastEvidence: Int64 { Commit.last(of: firstEvidence, evidence) }

    private static func last(of first: Int64, _ count: Int) -> Int64 {
        let (next, isTooLarge) = first.addingReportingOverflow(Int64(count))
        guard !isTooLarge, next > .min else { return .max }
        return next - 1
    }
}

/// Computes the digest of a commit from its events and confirmations, one after the other.
///
/// Covers the previous digest, the commit's columns, then each event's digest by offset and each
/// confirmation row in the order of `ConfirmationRow.precedes`. Written down in `schema/README.md`.
package struct CommitHasher {
    private var hasher = SHA256()

    /// Starts the digest of a commit that follows the one with digest `previous`.
    package init(after previous: Digest, commit: Commit) {
        var writer = ByteWriter()
        writer.prefixed("subledger/commit")
        writer.raw(previous.bytes)
        writer.integer(UInt32(truncatingIfNeeded: commit.format))
        writer.integer(UInt32(truncatingIfNeeded: commit.lane))
        writer.integer(commit.number)
        writer.integer(commit.firstOffset)
        writer.integer(UInt32(truncatingIfNeeded: commit.count))
        writer.integer(commit.firstEvidence)
        writer.integer(UInt32(truncatingIfNeeded: commit.evidence))
        writer.integer(UInt32(truncatingIfNeeded: commit.confirmations))
        writer.instant(commit.committedAt)
        update(writer.bytes)
    }

    /// Adds the digest of the next event or confirmation.
    package mutating func update(_ digest: Digest) {
        withUnsafeBytes(of: digest) { hasher.update(bufferPointer: $0) }
    }

    private mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    }

    /// The commit's digest.
    package func digest() -> Digest {
        guard let digest = Digest(bytes: hasher.finalize()) else {
            preconditionFailure("a SHA-256 digest has \(Digest.byteCount) bytes")
        }
        return digest
    }
}

/// The immutable properties of a ledger, from which every lane's chain starts.
package struct LedgerIdentity: Hashable, Sendable {
    /// Sixteen bytes that identify this ledger.
    package let ledgerId: [UInt8]
    /// Number of lanes.
    package let lanes: LaneCount
    /// Version of the canonical bytes with which its chains start.
    package let formatVersion: Int

    /// Version of the canonical bytes that this program writes, for new ledgers and for commits.
    package static let format = 2

    /// The identity of a ledger.
    package init(ledgerId: [UInt8], lanes: LaneCount, formatVersion: Int = format) {
        self.ledgerId = ledgerId
        self.lanes = lanes
        self.formatVersion = formatVersion
    }

    /// The digest before the first commit of a lane.
    package func genesis(lane: Int) -> Digest {
        var writer = ByteWriter()
        writer.prefixed("subledger/genesis")
        writer.raw(ledgerId)
        writer.integer(UInt32(truncatingIfNeeded: formatVersion))
        writer.integer(UInt32(lanes.value))
        writer.integer(UInt32(truncatingIfNeeded: lane))
        return Digest.of(writer.bytes)
    }
}
