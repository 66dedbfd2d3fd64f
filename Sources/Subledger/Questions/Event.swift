public import EventLog
public import Events
internal import AppStore

/// One event of the log: its content, and the payload that brought it.
public struct EventDocument: Codable, Hashable, Sendable {
    /// Its position in the log.
    public let position: Position
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// What it is about.
    public let kind: String
    /// A short summary of its content.
    public let summary: String
    /// The format in which it arrived.
    public let format: String
    /// The app.
    public let bundleId: String
    /// What was erased from it: `payload`, `person` or `everything`; nil if nothing was.
    public let erased: String?
    /// Apple's date for the statement; nil if it was erased.
    public let asOf: Instant?
    /// When the log recorded it, on the ledger's clock.
    public let recordedAt: Instant
    /// Apple's `purchaseDate`.
    public let purchaseDate: Instant?
    /// Apple's `expiresDate`.
    public let expiresDate: Instant?
    /// Its properties under Apple's names; properties of later versions as `tag` and a number.
    public let fields: [String: PropertyValue]
    /// The payload that brought it.
    public let evidence: Payload
    /// Number of the commit that contains it, within its lane.
    public let commit: Int64
    /// The digest of that commit, which covers the event and everything before it.
    public let commitDigest: String

    /// The payload that brought an event; only its number if the payload no longer exists.
    public struct Payload: Codable, Hashable, Sendable {
        /// Its number within the lane.
        public let number: Int64
        /// SHA-256 of its bytes, in hexadecimal.
        public let digest: String?
        /// Its kind.
        public let kind: String?
        /// The channel it came by.
        public let source: String?
        /// Why it is believed: `signed`, `fetched`, `shared-secret` or `vouched`.
        public let trust: String?
        /// When it arrived, on our clock.
        public let receivedAt: Instant?
        /// Whether it arrived `live` or through an `import`.
        public let arrival: String?
        /// The context it was submitted with, as JSON.
        public let context: String?
        /// Its size in bytes.
        public let byteCount: Int?
    }
}

/// What proves an event: the digests of the event, the evidence and the commit.
public struct ProofDocument: Codable, Hashable, Sendable {
    /// The event.
    public let position: Position
    /// Its digest; nil if the payload it is computed from is missing.
    public let eventDigest: String?
    /// The salt of its row's commitments, in hexadecimal.
    public let salt: String
    /// The commitments that make up its digest.
    public let commitments: Commitments
    /// SHA-256 of the payload.
    public let evidenceDigest: String?
    /// SHA-256 of the payload's record.
    public let evidenceRecordDigest: String?
    /// The commit that contains it.
    public let commit: CommitColumns

    /// The parts of an event's digest, each of which can be erased without the others.
    public struct Commitments: Codable, Hashable, Sendable {
        /// Commitment to the purchase.
        public let purchase: String?
        /// Commitment to what identifies a person.
        public let person: String?
        /// Commitment to the evidence.
        public let evidence: String?
    }

    /// The columns of a commit, with its digest and that of the commit before it.
    public struct CommitColumns: Codable, Hashable, Sendable {
        /// The columns that the digest covers; their members are those of this object.
        public let columns: Commit
        /// Its digest.
        public let digest: String
        /// The digest of the commit before it.
        public let previousDigest: String

        private enum CodingKeys: CodingKey { case digest, previousDigest }

        fileprivate init(_ stored: StoredEvent) {
            columns = stored.commit.commit
            digest = stored.commit.digest.hex
            previousDigest = stored.previousDigest.hex
        }

        /// Reads the columns and the digests.
        public init(from decoder: any Decoder) throws {
            let digests = try decoder.container(keyedBy: CodingKeys.self)
            columns = try Commit(from: decoder)
            digest = try digests.decode(String.self, forKey: .digest)
            previousDigest = try digests.decode(String.self, forKey: .previousDigest)
        }

        /// Writes the columns and the digests as one object.
        public func encode(to encoder: any Encoder) throws {
            var digests = encoder.container(keyedBy: CodingKeys.self)
            try columns.encode(to: encoder)
            try digests.encode(digest, forKey: .digest)
            try digests.encode(previousDigest, forKey: .previousDigest)
        }
    }
}

extension Ledger {
    /// One event of the log; nil if there is none at that position.
    ///
    /// - Throws: `EventLogError`.
    public func event(at position: Position) async throws(EventLogError) -> EventDocument? {
        try await log.event(at: position).map { EventDocument($0) }
    }

    /// What proves an event; nil if there is none at that position.
    ///
    /// - Throws: `EventLogError`.
    public func proof(ofEventAt position: Position) async throws(EventLogError) -> ProofDocument? {
        try await log.event(at: position).map { ProofDocument($0) }
    }
}

extension StoredEvent {
    fileprivate var record: Evidence? {
        if case .whole(let evidence) = evidence { evidence } else { nil }
    }
}

extension EventDocument {
    /// The document of a stored event.
    package init(_ stored: StoredEvent) {
        let (event, fact, record) = (stored.event, stored.event.fact, stored.record)
        position = event.position
        originalTransactionId = fact.stream.originalTransactionId
        environment = fact.stream.environment
        kind = fact.kind.rawValue
        summary = fact.summary
        format = "\(fact.content.format)"
        bundleId = fact.bundleId
        erased = event.erased.word
        asOf = fact.statedAsOf
        recordedAt = event.recordedAt
        purchaseDate = fact.purchaseDate.ifSet
        expiresDate = fact.expiresDate.ifSet
        fields = fact.content.properties
        evidence = Payload(
            number: event.evidence,
            digest: record?.digest.hex,
            kind: record?.kind.rawValue,
            source: record?.source,
            trust: record?.verification.trust.rawValue,
            receivedAt: record?.receivedAt,
            arrival: record?.arrival.rawValue,
            context: record?.context?.canonicalText,
            byteCount: record?.payload.count
        )
        commit = stored.commit.commit.number
        commitDigest = stored.commit.digest.hex
    }
}

extension ProofDocument {
    /// The proof of a stored event.
    package init(_ stored: StoredEvent) {
        position = stored.event.position
        eventDigest = stored.commitments?.digest.hex
        salt = hexadecimal(stored.keys.stored)
        commitments = Commitments(
            purchase: stored.commitments?.purchase.hex,
            person: stored.commitments?.person.hex,
            evidence: stored.commitments?.evidence.hex
        )
        evidenceDigest = stored.record?.digest.hex
        evidenceRecordDigest = stored.record?.recordDigest.hex
        commit = CommitColumns(stored)
    }
}

extension StoredEvent {
    private var evidenceWords: String {
        switch evidence {
        case .whole(let evidence): evidence.digest.hex
        case .erased: "number \(event.evidence), which was erased"
        case .verifiedAtEntry: "number \(event.evidence), verified on arrival but not kept"
        case .missing: "number \(event.evidence), which is missing"
        case .damaged: "number \(event.evidence), which is damaged; run `subledger verify`"
        }
    }

    /// The event as text: its content, and its place in the chain.
    package var text: Block {
        let fact = event.fact
        let payload = [record?.kind.rawValue, record?.verification.trust.rawValue, record?.source]
        let fields = fact.content.entries.map { ["  \($0.field)", $0.value.words] }
        let unrecognised = fact.content.unrecognised.map { ["  tag \($0)", hexadecimal($1)] }
        return .table(
            ["event", "\(event.position)"],
            [
                [
                    "subscription",
                    "\(fact.stream.originalTransactionId) · \(fact.stream.environment)",
                ],
                ["kind", fact.kind.rawValue], ["states", fact.summary],
                ["erased", event.erased.word ?? "nothing"],
                ["as of", fact.statedAsOf?.clock ?? "–"],
                ["recorded", event.recordedAt.clock], ["bundle", fact.bundleId],
                ["purchase", fact.purchaseDate.ifSet?.clock ?? "–"],
                ["expires", fact.expiresDate.ifSet?.clock ?? "–"],
                ["evidence", evidenceWords],
                ["", payload.compactMap { $0 }.joined(separator: " · ")],
                place[0], ["commit digest", commit.digest.hex],
            ] + fields + unrecognised
        )
    }

    // The event's place in the chain.
    private var place: [[String]] {
        let columns = commit.commit
        return [
            ["commit", "\(columns.number) of lane \(columns.lane), \(columns.committedAt.clock)"],
            [
                "",
                "offsets from \(columns.firstOffset), \(counted(columns.count, "event")), "
                    + "\(counted(columns.confirmations, "confirmation")), "
                    + counted(columns.evidence, "payload"),
            ],
        ]
    }

    /// What proves the event, as text.
    package var proofText: Block {
        .table(
            ["event", "\(event.position)"],
            [
                [
                    "event digest",
                    commitments?.digest.hex ?? "cannot be computed: the payload is missing",
                ],
                ["  of purchase", commitments?.purchase.hex ?? "–"],
                ["  of person", commitments?.person.hex ?? "–"],
                ["  of evidence", commitments?.evidence.hex ?? "–"],
                ["salt", hexadecimal(keys.stored)], ["evidence", evidenceWords],
                ["evidence record", record?.recordDigest.hex ?? "–"],
            ] + place + [
                ["commit digest", commit.digest.hex], ["previous digest", previousDigest.hex],
            ]
        )
    }
}
