internal import Events

/// The facts of one payload that fall into one lane, with the payload ready to be stored.
struct Submission: Sendable {
    let evidence: Evidence
    let recordDigest: Digest
    var packing: Packing
    let facts: [PreparedFact]
    /// The subscriptions in other lanes that the payload mentions.
    var elsewhere: [StreamID] = []
    /// The body of the product catalog that belongs to its only fact; nil for any other payload.
    var catalog: CatalogVersion?

    /// The payload's bytes for storage.
    enum Packing: Sendable {
        case packed(EvidencePacking.Packed)
        /// Packed only if the payload has to be stored, which is unlikely.
        case whenStored(EvidenceDictionary?)
        /// They must not be kept.
        case notKept
    }

    /// The payload's bytes, packed; nil if and only if they must not be kept.
    var packed: EvidencePacking.Packed? {
        switch packing {
        case .packed(let packed): packed
        case .whenStored(let dictionary):
            EvidencePacking.pack(evidence.payload, dictionary: dictionary)
        case .notKept: nil
        }
    }

    /// Its size in a batch, in bytes.
    var byteCount: Int {
        var stored = 0
        if case .packed(let packed) = packing { stored = packed.body.count }
        return stored + (catalog?.body.count ?? 0)
            + facts.reduce(0) { $0 + $1.contentBytes.count }
    }
}

extension Submission {
    /// The same without the bytes of the payload, whose subscription was erased: its facts were
    /// verified at entry.
    ///
    /// - Parameter digest: Replaces the payload's digest, from which an unsigned payload could be
    ///   guessed.
    /// - Returns: What is stored instead.
    func withoutPayload(digest: Digest) -> Submission {
        let record = Evidence(
            payload: [],
            digest: digest,
            kind: evidence.kind,
            source: evidence.source,
            arrival: evidence.arrival,
            verification: evidence.verification,
            context: nil,
            receivedAt: evidence.receivedAt
        )
        return Submission(
            evidence: record,
            recordDigest: record.recordDigest,
            packing: .notKept,
            facts: facts
        )
    }

    /// The same, ready to be stored.
    var ready: Submission {
        guard case .whenStored = packing, let packed else { return self }
        var ready = self
        ready.packing = .packed(packed)
        return ready
    }

    /// All subscriptions that the payload mentions.
    var streams: [StreamID] { facts.map(\.fact.stream) + elsewhere }

    /// Whether it is the operator's own statement, which an erasure does not strip.
    var isOfOperator: Bool {
        evidence.kind == .customerLink || evidence.kind == .erasureStatement
    }
}
