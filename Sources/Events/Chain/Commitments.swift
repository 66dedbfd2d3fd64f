internal import Crypto
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Sixteen random bytes of one row of the log, from which the salts of its commitments are derived.
///
/// Without the salt, the covered bytes cannot be guessed from a commitment. A part of a row can
/// therefore be removed together with its salt, and the digest of the row, which covers the
/// commitments to all parts, still proves the rest.
package struct Salt: Hashable, Sendable {
    private let words: (UInt64, UInt64)

    /// Number of bytes in a salt.
    package static let byteCount = 16

    /// The salt with exactly these bytes; nil unless there are sixteen.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Salt.byteCount else { return nil }
        words = bytes.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
    }

    /// A random salt, from the system's cryptographically secure generator.
    package static func random() -> Salt { reserve.withLock { $0.next() } }

    private static let reserve = Mutex(Reserve())

    /// A salt from this generator; for tests that must be repeatable.
    package static func random(using generator: inout some RandomNumberGenerator) -> Salt {
        Salt(words: (generator.next(), generator.next()))
    }

    private init(words: (UInt64, UInt64)) {
        self.words = words
    }

    /// The salt whose sixteen bytes begin at that offset.
    fileprivate init(in bytes: UnsafeRawBufferPointer, at start: Int) {
        words = bytes.loadUnaligned(fromByteOffset: start, as: (UInt64, UInt64).self)
    }

    /// Its sixteen bytes.
    package var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// Whether all bytes are equal.
    package static func == (left: Salt, right: Salt) -> Bool { left.words == right.words }

    /// Hashes the first eight bytes: they are random, so they suffice.
    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest {
    /// The placeholder for the digest of a payload that is not kept: sixteen zero bytes, with which
    /// no digest starts by chance, and sixteen random ones.
    package init(placeholder salt: Salt) {
        guard let digest = Digest(bytes: [UInt8](repeating: 0, count: 16) + salt.bytes) else {
            preconditionFailure("a digest has \(Digest.byteCount) bytes")
        }
        self = digest
    }

    /// Whether it is the placeholder for a payload that is not kept.
    package var isPlaceholder: Bool { bytes.prefix(16).allSatisfy { $0 == 0 } }
}

/// The keys with which a row commits to its three parts: the salt of a part that is present, the
/// commitment itself for a part that was erased.
///
/// A row starts with sixteen bytes, its own salt, from which the salts of all parts are derived.
/// After an erasure it holds, for each part in turn, either the sixteen bytes of the part's salt or
/// the thirty-two of the commitment to it: 64 bytes if the evidence was removed, 80 if the person
/// was removed too, 96 if everything was. Specified in `schema/README.md`.
package struct CommitmentKeys: Hashable, Sendable {
    private let purchase: Key
    private let person: Key
    private let evidence: Key

    private enum Key: Hashable, Sendable {
        case salt(Salt)
        case commitment(Digest)

        var bytes: [UInt8] {
            switch self {
            case .salt(let salt): salt.bytes
            case .commitment(let digest): digest.bytes
            }
        }

        func commitment(to part: [UInt8]) -> Digest {
            switch self {
            case .salt(let salt): Digest.of(salt.bytes + part)
            case .commitment(let digest): digest
            }
        }
    }

    /// The keys that are derived from a row's salt.
    package init(_ salt: Salt) {
        let salts = Commitments.salts(of: salt)
        purchase = .salt(salts.purchase)
        person = .salt(salts.person)
        evidence = .salt(salts.evidence)
    }

    /// The keys stored in a row; nil unless their length is that of a salt or left by an erasure.
    package init?(stored bytes: [UInt8]) {
        if let salt = Salt(bytes: bytes) {
            self = CommitmentKeys(salt)
            return
        }
        guard let parts = CommitmentKeys.erased(inStored: bytes.count) else { return nil }
        var rest = bytes[...]
        func take(_ isErased: Bool) -> Key {
            let count = isErased ? Digest.byteCount : Salt.byteCount
            defer { rest = rest.dropFirst(count) }
            let piece = rest.prefix(count)
            if !isErased, let salt = Salt(bytes: Array(piece)) { return .salt(salt) }
            return .commitment(Digest(bytes: piece) ?? .zero)
        }
        let purchase = take(parts >= .everything)
        let person = take(parts >= .person)
        self = CommitmentKeys(
            purchase: purchase,
            person: person,
            evidence: take(parts >= .payload)
        )
    }

    private init(purchase: Key, person: Key, evidence: Key) {
        self.purchase = purchase
        self.person = person
        self.evidence = evidence
    }

    /// What was erased from a row whose stored keys have that many bytes; nil if no row has.
    package static func erased(inStored byteCount: Int) -> ErasedParts? {
        switch byteCount {
        case 16: .nothing
        case 64: .payload
        case 80: .person
        case 96: .everything
        default: nil
        }
    }

    /// The three keys as a row holds them after an erasure: salts of 16 bytes, commitments of 32.
    package var stored: [UInt8] { purchase.bytes + person.bytes + evidence.bytes }

    /// The bytes to store once these parts are erased; `commitments` are those of the row before.
    package func stored(without parts: ErasedParts, _ commitments: Commitments) -> [UInt8] {
        (parts >= .everything ? commitments.purchase.bytes : purchase.bytes)
            + (parts >= .person ? commitments.person.bytes : person.bytes)
            + (parts >= .payload ? commitments.evidence.bytes : evidence.bytes)
    }

    fileprivate func commitments(
        purchase bytes: [UInt8],
        person personBytes: [UInt8],
        evidence records: [UInt8]
    ) -> (purchase: Digest, person: Digest, evidence: Digest) {
        (
            purchase.commitment(to: bytes), person.commitment(to: personBytes),
            evidence.commitment(to: records)
        )
    }
}

/// The three commitments of one row: to what was bought, to who bought it, and to what proves it.
///
/// Each is the SHA-256 of its own salt and its part; the row's digest covers the three. Specified
/// in `schema/README.md`.
package struct Commitments: Hashable, Sendable {
    /// Stream, key, as-of and what was bought; for a confirmation, everything that it repeats.
    package let purchase: Digest
    /// What identifies a person; empty for a confirmation.
    package let person: Digest
    /// The records of the payloads that prove it.
    package let evidence: Digest

    /// The commitments to these parts.
    ///
    /// - Parameters:
    ///   - purchase: Canonical bytes of the first part.
    ///   - person: Canonical bytes of the second part.
    ///   - evidence: The digests of the records of its payloads, by their numbers.
    ///   - keys: The keys that the row holds.
    init(
        purchase: [UInt8],
        person: [UInt8],
        evidence: some Sequence<Digest>,
        keys: CommitmentKeys
    ) {
        var records: [UInt8] = []
        for digest in evidence { records += digest.bytes }
        (self.purchase, self.person, self.evidence) = keys.commitments(
            purchase: purchase,
            person: person,
            evidence: records
        )
    }

    /// The salts of the three parts.
    fileprivate static func salts(of salt: Salt) -> (purchase: Salt, person: Salt, evidence: Salt) {
        var writer = ByteWriter()
        writer.prefixed("subledger/salt")
        writer.raw(salt.bytes)
        return writer.bytes.withUnsafeBytes { bytes in
            var hasher = SHA384()
            hasher.update(bufferPointer: bytes)
            return hasher.finalize().withUnsafeBytes { digest in
                (Salt(in: digest, at: 0), Salt(in: digest, at: 16), Salt(in: digest, at: 32))
            }
        }
    }

    /// The digest of the row, which its commit covers.
    package var digest: Digest {
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
    ///   - keys: The keys that its row holds.
    ///   - record: The digest of its evidence's record; any digest if the evidence was erased.
    ///   - store: The word of the store; empty for Apple's App Store.
    ///   - isLate: Whether the stream was confirmed as of a later time when the event arrived.
    /// - Returns: The three commitments that the digest of its row covers.
    package func commitments(
        keys: CommitmentKeys,
        evidence record: Digest,
        store: String = "",
        isLate: Bool = false
    ) -> Commitments {
        let (purchase, person) = fact.content.parts
        var writer = ByteWriter()
        writer.reserve(purchase.count + 160)
        writer.prefixed("subledger/event")
        writer.integer(UInt32(truncatingIfNeeded: position.lane.number))
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
            keys: keys
        )
    }
}

extension ConfirmationRow {
    /// The commitments to the row's parts; `records` are those of its payloads, by their numbers.
    package func commitments(
        lane: Int,
        keys: CommitmentKeys,
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
        return Commitments(purchase: writer.bytes, person: [], evidence: records, keys: keys)
    }
}

extension Evidence {
    /// The digest of what the log states about a payload: its address and how it was verified.
    package var recordDigest: Digest {
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
    package static func recordDigest(
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

extension Salt {
    /// Salts fetched in one system call: a call for each salt cost 3 % of an ingest.
    private struct Reserve {
        private var salts: [Salt] = []

        /// The most bytes that one `getentropy` call returns.
        private static let byteCountMax = 256

        /// Returns a salt that was not returned before.
        mutating func next() -> Salt {
            if let salt = salts.popLast() { return salt }
            var bytes = [UInt8](repeating: 0, count: Reserve.byteCountMax)
            guard getentropy(&bytes, bytes.count) == 0 else {
                var generator = SystemRandomNumberGenerator()
                return random(using: &generator)
            }
            bytes.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: Salt.byteCount) {
                    salts.append(Salt(in: bytes, at: start))
                }
            }
            return salts.removeLast()
        }
    }
}
