internal import Crypto

/// Sixteen random bytes of one row of the log, from which the salts of its commitments are derived.
///
/// What a commitment covers cannot be guessed from it without its salt. So a part of a row can be
/// removed together with its salt, and the digest of the row, which covers the commitments of all
/// parts, still proves the rest.
public struct Salt: Hashable, Sendable {
    private let words: (UInt64, UInt64)

    /// Number of bytes in a salt.
    public static let byteCount = 16

    /// The salt with exactly these bytes; nil unless there are sixteen.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Salt.byteCount else { return nil }
        words = bytes.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
    }

    /// A random salt, from a cryptographically secure generator.
    public static func random() -> Salt {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// A salt of that generator; for tests, which repeat what they did.
    public static func random(using generator: inout some RandomNumberGenerator) -> Salt {
        Salt(words: (generator.next(), generator.next()))
    }

    private init(words: (UInt64, UInt64)) {
        self.words = words
    }

    /// Its sixteen bytes.
    public var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// Whether all bytes are equal.
    public static func == (left: Salt, right: Salt) -> Bool { left.words == right.words }

    /// Hashes the first bytes, which are as good as all.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// The three commitments of one row: to what was bought, to whom it was, and to what proves it.
///
/// Each is the SHA-256 of its own salt and its part; the row's digest covers the three. Written down
/// in `schema/README.md`.
public struct Commitments: Hashable, Sendable {
    /// Stream, key, as-of and what was bought; of a confirmation all that it repeats.
    public let purchase: Digest
    /// What identifies a person; empty for a confirmation.
    public let person: Digest
    /// The records of the payloads that prove it.
    public let evidence: Digest

    /// The commitments to these parts.
    ///
    /// - Parameters:
    ///   - purchase: Canonical bytes of the first part.
    ///   - person: Canonical bytes of the second part.
    ///   - evidence: The digests of the records of its payloads, by their numbers.
    ///   - salt: The row's salt.
    init(
        purchase: some Sequence<UInt8>,
        person: [UInt8],
        evidence: some Sequence<Digest>,
        salt: Salt
    ) {
        var writer = ByteWriter()
        writer.prefixed("subledger/salt")
        writer.raw(salt.bytes)
        // 48 bytes: a salt of 16 for each part.
        let salts = writer.bytes.withUnsafeBytes { bytes in
            var hasher = SHA384()
            hasher.update(bufferPointer: bytes)
            return Array(hasher.finalize())
        }
        self.purchase = Digest.of(Array(salts[..<16]) + purchase)
        self.person = Digest.of(Array(salts[16..<32]) + person)
        var record = Array(salts[32...])
        for digest in evidence { record += digest.bytes }
        self.evidence = Digest.of(record)
    }

    /// The digest of the row, which its commit covers.
    public var digest: Digest {
        var writer = ByteWriter()
        writer.prefixed("subledger/row")
        writer.raw(purchase.bytes)
        writer.raw(person.bytes)
        writer.raw(evidence.bytes)
        return Digest.of(writer.bytes)
    }
}

extension Event {
    /// The commitments to the event's parts.
    ///
    /// - Parameters:
    ///   - salt: The salt of its row.
    ///   - record: The digest of its evidence's record.
    ///   - store: The word of the store; empty for Apple's App Store.
    ///   - isLate: Whether its stream was confirmed as of a later time when the event came.
    /// - Returns: The three commitments that the digest of its row covers.
    public func commitments(
        salt: Salt,
        evidence record: Digest,
        store: String = "",
        isLate: Bool = false
    ) -> Commitments {
        let (purchase, person) = fact.content.parts
        var writer = ByteWriter()
        writer.reserve(purchase.count + 160)
        writer.prefixed("subledger/event")
        writer.integer(UInt32(truncatingIfNeeded: position.lane))
        writer.integer(position.offset)
        writer.instant(recordedAt)
        writer.instant(fact.asOf)
        writer.instant(fact.purchaseDate)
        writer.instant(fact.expiresDate)
        writer.integer(self.evidence)
        writer.integer(UInt8((isImported ? 1 : 0) | (isLate ? 2 : 0)))
        writer.prefixed(store)
        writer.prefixed(fact.stream.environment.word)
        writer.prefixed(fact.stream.originalTransactionId)
        writer.prefixed(fact.kind.rawValue)
        writer.prefixed(fact.bundleId)
        writer.prefixed(purchase)
        return Commitments(
            purchase: writer.bytes,
            person: person,
            evidence: CollectionOfOne(record),
            salt: salt
        )
    }
}

extension ConfirmationRow {
    /// The commitments to the row's parts; `records` are those of its payloads, by their numbers.
    public func commitments(
        lane: Int,
        salt: Salt,
        evidence records: [Digest]
    ) -> Commitments {
        var writer = ByteWriter()
        writer.prefixed("subledger/confirmation")
        writer.integer(UInt32(truncatingIfNeeded: lane))
        writer.instant(asOf)
        writer.integer(self.evidence)
        writer.prefixed(stream.environment.word)
        writer.prefixed(stream.originalTransactionId)
        writer.prefixed(repetitions)
        writer.integer(UInt32(truncatingIfNeeded: transactionIds.count))
        for id in transactionIds { writer.prefixed(id) }
        return Commitments(purchase: writer.bytes, person: [], evidence: records, salt: salt)
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
            arrival: arrival.rawValue,
            verification: verification.trust.rawValue,
            root: verification.root,
            context: context?.canonicalText
        )
    }

    /// The same from the stored columns.
    public static func recordDigest(
        payload: Digest,
        receivedAt: Instant,
        kind: String,
        source: String,
        arrival: String,
        verification: String,
        root: Digest?,
        context: String?
    ) -> Digest {
        var writer = ByteWriter()
        writer.prefixed("subledger/evidence")
        writer.raw(payload.bytes)
        writer.instant(receivedAt)
        writer.prefixed(kind)
        writer.prefixed(source)
        writer.prefixed(arrival)
        writer.prefixed(verification)
        writer.prefixed(root?.bytes ?? [])
        writer.prefixed(context ?? "")
        return Digest.of(writer.bytes)
    }
}
