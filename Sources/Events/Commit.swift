internal import Crypto

/// One append to one lane: a link of the lane's chain of digests.
public struct Commit: Hashable, Sendable {
    /// The lane.
    public let lane: Int
    /// From 1, without holes.
    public let number: Int64
    /// Offset of its first event; the next free one where it brought only confirmations.
    public let firstOffset: Int64
    /// Number of events.
    public let count: Int
    /// Number of confirmations.
    public let confirmations: Int
    /// When it was committed, on our clock, in whole milliseconds.
    public let committedAt: Instant

    /// A commit's own columns, without its digest.
    public init(
        lane: Int,
        number: Int64,
        firstOffset: Int64,
        count: Int,
        confirmations: Int,
        committedAt: Instant
    ) {
        self.lane = lane
        self.number = number
        self.firstOffset = firstOffset
        self.count = count
        self.confirmations = confirmations
        self.committedAt = committedAt
    }
}

/// Computes the digest of a commit while its events and confirmations pass by.
///
/// Covers the previous digest, the commit's columns, then each event's digest by offset and each
/// confirmation's in the order of `Confirmation.precedes`. Written down in `schema/README.md`.
public struct CommitHasher {
    private var hasher = SHA256()

    /// Starts the digest of a commit that follows the one with digest `previous`.
    public init(after previous: Digest, commit: Commit) {
        var writer = ByteWriter()
        writer.prefixed("subledger/commit/1")
        writer.raw(previous.bytes)
        writer.integer(UInt32(commit.lane))
        writer.integer(commit.number)
        writer.integer(commit.firstOffset)
        writer.integer(UInt32(commit.count))
        writer.integer(UInt32(commit.confirmations))
        writer.instant(commit.committedAt)
        update(writer.bytes)
    }

    /// Takes in the digest of the next event or confirmation.
    public mutating func update(_ digest: Digest) {
        update(digest.bytes)
    }

    private mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    }

    /// The commit's digest.
    public func digest() -> Digest {
        guard let digest = Digest(bytes: hasher.finalize()) else {
            preconditionFailure("a SHA-256 digest has \(Digest.byteCount) bytes")
        }
        return digest
    }
}

/// What can never change about a ledger; every lane's chain starts from it.
public struct LedgerIdentity: Hashable, Sendable {
    /// Sixteen bytes that tell this ledger from every other one.
    public let ledgerId: [UInt8]
    /// Number of lanes.
    public let lanes: LaneCount

    /// Version of all canonical bytes that digests are taken over.
    public static let formatVersion: UInt32 = 1

    /// The identity of a ledger.
    public init(ledgerId: [UInt8], lanes: LaneCount) {
        self.ledgerId = ledgerId
        self.lanes = lanes
    }

    /// The digest before the first commit of a lane.
    public func genesis(lane: Int) -> Digest {
        var writer = ByteWriter()
        writer.prefixed("subledger/genesis/1")
        writer.raw(ledgerId)
        writer.integer(LedgerIdentity.formatVersion)
        writer.integer(UInt32(lanes.value))
        writer.integer(UInt32(lane))
        return Digest.of(writer.bytes)
    }
}

extension Evidence {
    /// The digest of what the log states about a payload: its address and how it was verified.
    public var recordDigest: Digest {
        Evidence.recordDigest(
            payload: digest,
            receivedAt: receivedAt,
            kind: kind.rawValue,
            source: source,
            verification: verification.trust.rawValue,
            root: verification.root
        )
    }

    /// The same from the stored columns.
    public static func recordDigest(
        payload: Digest,
        receivedAt: Instant,
        kind: String,
        source: String,
        verification: String,
        root: Digest?
    ) -> Digest {
        var writer = ByteWriter()
        writer.prefixed("subledger/evidence/1")
        writer.raw(payload.bytes)
        writer.instant(receivedAt)
        writer.prefixed(kind)
        writer.prefixed(source)
        writer.prefixed(verification)
        if let root { writer.raw(root.bytes) }
        return Digest.of(writer.bytes)
    }
}

extension Event {
    /// The event in canonical bytes, with the digest of its evidence's record.
    public func canonicalBytes(evidenceRecord: Digest) -> [UInt8] {
        var writer = ByteWriter()
        writer.prefixed("subledger/event/1")
        writer.integer(UInt32(position.lane))
        writer.integer(position.offset)
        writer.instant(recordedAt)
        writer.instant(fact.asOf)
        writer.instant(fact.purchaseDate)
        writer.instant(fact.expiresDate)
        writer.prefixed(fact.stream.environment.word)
        writer.prefixed(fact.stream.originalTransactionId)
        writer.prefixed(fact.kind.rawValue)
        writer.prefixed(fact.bundleId)
        writer.prefixed(fact.content.canonicalBytes)
        writer.raw(evidenceRecord.bytes)
        return writer.bytes
    }

    /// The SHA-256 of the canonical bytes.
    public func digest(evidenceRecord: Digest) -> Digest {
        Digest.of(canonicalBytes(evidenceRecord: evidenceRecord))
    }
}

extension Confirmation {
    /// The SHA-256 of the confirmation's canonical bytes.
    public var digest: Digest {
        var writer = ByteWriter()
        writer.prefixed("subledger/confirmation/1")
        writer.integer(UInt32(position.lane))
        writer.integer(position.offset)
        writer.instant(asOf)
        writer.integer(fields.rawValue)
        writer.prefixed(transactionId)
        return Digest.of(writer.bytes)
    }

    /// The order of a commit's confirmations in its digest.
    public func precedes(_ other: Confirmation) -> Bool {
        if position != other.position { return position < other.position }
        if asOf != other.asOf { return asOf < other.asOf }
        if fields != other.fields { return fields.rawValue < other.fields.rawValue }
        return transactionId.utf8.lexicographicallyPrecedes(other.transactionId.utf8)
    }
}
