public import EventLog
public import Events
internal import AppStore

/// One event of the log: what it says, and what brought it.
public struct EventDocument: Codable, Hashable, Sendable {
    /// Where it stands in the log.
    public let position: PositionValue
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// What it is about.
    public let kind: String
    /// What it says, in a few words.
    public let summary: String
    /// The form in which it came.
    public let format: String
    /// The app.
    public let bundleId: String
    /// What of it was erased: `payload`, `person` or `everything`; nil for nothing.
    public let erased: String?
    /// When Apple said it; nil where it was erased.
    public let asOf: Instant?
    /// When the log learnt of it, on the ledger's clock.
    public let recordedAt: Instant
    /// Apple's `purchaseDate`.
    public let purchaseDate: Instant?
    /// Apple's `expiresDate`.
    public let expiresDate: Instant?
    /// Its properties under Apple's names; those of later versions as `tag` and a number.
    public let fields: [String: PropertyValue]
    /// The payload that brought it.
    public let evidence: Payload

    /// The payload that brought an event; only its number where it is not there any more.
    public struct Payload: Codable, Hashable, Sendable {
        /// Its number in the lane.
        public let number: Int64
        /// SHA-256 of its bytes, in hexadecimal.
        public let digest: String?
        /// What it is.
        public let kind: String?
        /// The channel it came by.
        public let source: String?
        /// Why it is believed: `signed`, `fetched`, `shared-secret` or `vouched`.
        public let trust: String?
        /// When it arrived, on our clock.
        public let receivedAt: Instant?
        /// Whether it arrived `live`, or by an `import`.
        public let arrival: String?
        /// What stood around it, as JSON.
        public let context: String?
        /// How many bytes it has.
        public let byteCount: Int?
    }
}

/// What an event can be proven with: the digests of event, evidence and commit.
public struct ProofDocument: Codable, Hashable, Sendable {
    /// The event.
    public let position: PositionValue
    /// Its digest; nil where the payload is not there to compute it.
    public let eventDigest: String?
    /// What its row keeps to commit with, in hexadecimal.
    public let salt: String
    /// The parts of its digest.
    public let commitments: Commitments
    /// SHA-256 of the payload.
    public let evidenceDigest: String?
    /// SHA-256 of the payload's record.
    public let evidenceRecordDigest: String?
    /// The commit that holds it.
    public let commit: CommitColumns

    /// The parts of an event's digest, each of which can be erased without the others.
    public struct Commitments: Codable, Hashable, Sendable {
        /// Of the purchase.
        public let purchase: String?
        /// Of what identifies a person.
        public let person: String?
        /// Of the evidence.
        public let evidence: String?
    }

    /// The columns of a commit.
    public struct CommitColumns: Codable, Hashable, Sendable {
        /// The lane.
        public let lane: Int
        /// Its number, from 1.
        public let number: Int64
        /// Offset of its first event.
        public let firstOffset: Int64
        /// How many events it holds.
        public let count: Int
        /// Number of its first payload.
        public let firstEvidence: Int64
        /// How many payloads it holds.
        public let evidence: Int
        /// How many rows of confirmations it holds.
        public let confirmations: Int
        /// The version of its canonical bytes.
        public let format: Int
        /// When it was made, on the ledger's clock.
        public let committedAt: Instant
        /// Its digest.
        public let digest: String
        /// The digest of the commit before it.
        public let previousDigest: String
    }
}

extension Ledger {
    /// One event of the log; nil where there is none at that position.
    ///
    /// - Throws: `EventLogError`.
    public func event(at position: Position) async throws(EventLogError) -> EventDocument? {
        try await log.event(at: position).map { EventDocument($0, lanes: log.identity.lanes) }
    }

    /// What an event can be proven with; nil where there is none at that position.
    ///
    /// - Throws: `EventLogError`.
    public func proof(ofEventAt position: Position) async throws(EventLogError) -> ProofDocument? {
        try await log.event(at: position).map { ProofDocument($0, lanes: log.identity.lanes) }
    }
}

extension StoredEvent {
    fileprivate var record: Evidence? {
        if case .whole(let evidence) = evidence { evidence } else { nil }
    }
}

extension EventDocument {
    /// The document of an event that was read.
    package init(_ stored: StoredEvent, lanes: LaneCount) {
        let (event, fact, record) = (stored.event, stored.event.fact, stored.record)
        position = PositionValue(event.position, lanes: lanes)
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
    }
}

extension ProofDocument {
    /// The proof of an event that was read.
    package init(_ stored: StoredEvent, lanes: LaneCount) {
        let columns = stored.commit.commit
        position = PositionValue(stored.event.position, lanes: lanes)
        eventDigest = stored.commitments?.digest.hex
        salt = hexadecimal(stored.keys.stored)
        commitments = Commitments(
            purchase: stored.commitments?.purchase.hex,
            person: stored.commitments?.person.hex,
            evidence: stored.commitments?.evidence.hex
        )
        evidenceDigest = stored.record?.digest.hex
        evidenceRecordDigest = stored.record?.recordDigest.hex
        commit = CommitColumns(
            lane: columns.lane,
            number: columns.number,
            firstOffset: columns.firstOffset,
            count: columns.count,
            firstEvidence: columns.firstEvidence,
            evidence: columns.evidence,
            confirmations: columns.confirmations,
            format: columns.format,
            committedAt: columns.committedAt,
            digest: stored.commit.digest.hex,
            previousDigest: stored.previousDigest.hex
        )
    }
}
