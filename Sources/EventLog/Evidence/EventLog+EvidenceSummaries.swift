public import Events
internal import Postgres

/// Where a statement came from: what its evidence is and why it is believed.
public struct EvidenceSummary: Hashable, Sendable {
    /// SHA-256 of the payload; nil where it was erased.
    public let digest: Digest?
    /// Whether its bytes are kept: not after an erasure, nor of what came after one.
    public let isKept: Bool
    /// What the payload is: a raw value of `PayloadKind`.
    public let evidenceKind: String
    /// The channel it came by.
    public let source: String
    /// Whether it arrived live or by an import: a raw value of `Arrival`.
    public let arrival: String
    /// Why it is believed: a raw value of `Verification.Trust`.
    public let trust: String
}

extension EventLog {
    /// Where the events of a stream and what confirmed them came from, by the number of their
    /// evidence in the stream's lane.
    ///
    /// A payload that is missing is left out; `verify` finds that.
    public func evidenceSummaries(
        of history: StreamHistory
    ) async throws(EventLogError) -> [Int64: EvidenceSummary] {
        let lane = identity.lanes.lane(of: history.stream.originalTransactionId)
        var numbers = Set(history.events.map(\.evidence))
        for confirmation in history.confirmations { numbers.insert(confirmation.evidence) }
        let asked = Array(numbers)
        return try await reading("read the evidence of a stream") { session in
            let rows = try await session.query(
                EvidenceSummary.sql,
                [.int4(Int32(lane)), .int8Array(asked)]
            )
            return try EvidenceSummary.byNumber(rows)
        }
    }

    /// Where the events of a stream came from.
    public func eventSummaries(
        of history: StreamHistory
    ) async throws(EventLogError) -> [Position: EvidenceSummary] {
        var events = history
        events.confirmations = []
        let summaries = try await evidenceSummaries(of: events)
        return Dictionary(
            uniqueKeysWithValues: history.events.compactMap { event in
                summaries[event.evidence].map { (event.position, $0) }
            }
        )
    }

    /// The digests among these that any lane holds, with why their payloads are believed: by the
    /// strongest trust.
    ///
    /// - Throws: `databaseUnavailable`, also where no answer came within the time of an append.
    package func knownEvidence(
        _ digests: [Digest]
    ) async throws(EventLogError) -> [Digest: Verification] {
        guard !digests.isEmpty else { return [:] }
        let asked = digests.map { $0.bytes }
        return try await reading(
            "look evidence up",
            by: limits.deadline()
        ) { session in
            let rows = try await session.query(EvidenceSummary.knownSQL, [.byteaArray(asked)])
            var known: [Digest: Verification] = [:]
            for row in rows {
                guard let digest = Digest(bytes: try row.bytea(0)),
                    let trust = Verification.Trust(rawValue: try row.text(1))
                else { continue }
                let root = try row.byteaIfPresent(2).flatMap(Digest.init(bytes:))
                guard (trust == .signed) == (root != nil) else { continue }
                if let other = known[digest], !trust.isStronger(than: other.trust) { continue }
                known[digest] = Verification(trust: trust, root: root)
            }
            return known
        }
    }
}

extension EvidenceSummary {
    /// Finds the payloads of lane `$1` with the numbers `$2`.
    static let sql = """
        SELECT evidence_no, digest, kind, source, is_imported, verification, body IS NOT NULL
        FROM ledger.evidence
        WHERE lane = $1 AND evidence_no = ANY ($2)
        """

    /// Finds the payloads with `asked.digest`, as the index has them.
    static let isAsked =
        "substr(digest, 1, 7) = substr(asked.digest, 1, 7) AND digest = asked.digest"

    fileprivate static let knownSQL = """
        SELECT v.digest, v.verification, r.digest
        FROM unnest($1::bytea[]) AS asked (digest)
        CROSS JOIN LATERAL (SELECT * FROM ledger.evidence WHERE \(isAsked) OFFSET 0) v
        LEFT JOIN ledger.root_certificate r USING (lane, root_key)
        """

    /// The summaries in its rows.
    static func byNumber(_ rows: PostgresRows) throws -> [Int64: EvidenceSummary] {
        var found: [Int64: EvidenceSummary] = [:]
        for row in rows {
            found[try row.int8(0)] = EvidenceSummary(
                digest: try row.byteaIfPresent(1).flatMap(Digest.init(bytes:)),
                isKept: try row.bool(6),
                evidenceKind: try row.text(2),
                source: try row.text(3),
                arrival: (try row.bool(4) ? Arrival.imported : .live).rawValue,
                trust: try row.text(5)
            )
        }
        return found
    }
}
