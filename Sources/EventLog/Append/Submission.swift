internal import Events

/// The facts of one payload that fall into one lane, with the payload ready to be stored.
struct Submission: Sendable {
    let evidence: Evidence
    let recordDigest: Digest
    var packing: Packing
    let facts: [PreparedFact]
    /// The subscriptions in other lanes of which the payload says something.
    var elsewhere: [StreamID] = []
    /// A body of the product catalog that goes with its one fact; nil for all else.
    var catalog: CatalogVersion?

    /// The payload's bytes for storage.
    enum Packing: Sendable {
        case packed(EvidencePacking.Packed)
        /// Packed only where the payload is to be stored, which is not likely.
        case whenStored(EvidenceDictionary?)
        /// They must not be kept.
        case notKept
    }

    /// The payload's bytes, packed; nil where they must not be kept, and only there.
    var packed: EvidencePacking.Packed? {
        switch packing {
        case .packed(let packed): packed
        case .whenStored(let dictionary):
            EvidencePacking.pack(evidence.payload, dictionary: dictionary)
        case .notKept: nil
        }
    }

    /// What it weighs in a batch.
    var byteCount: Int {
        var stored = 0
        if case .packed(let packed) = packing { stored = packed.body.count }
        return stored + (catalog?.body.count ?? 0)
            + facts.reduce(0) { $0 + $1.contentBytes.count }
    }
}

extension Submission {
    /// The same without the payload's bytes, whose subscription was erased: what is stored of it
    /// was verified at entry.
    ///
    /// - Parameter digest: In place of the payload's digest, from which an unsigned one could be
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

    /// All subscriptions of which the payload says something.
    var streams: [StreamID] { facts.map(\.fact.stream) + elsewhere }

    /// Whether it is the operator's own statement, which an erasure does not strip.
    var isOfOperator: Bool {
        evidence.kind == .customerLink || evidence.kind == .erasureStatement
    }
}
