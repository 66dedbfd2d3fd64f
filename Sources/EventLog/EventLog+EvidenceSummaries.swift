public import Events
internal import Postgres

/// Where an event came from: what its evidence is and why it is believed.
public struct EvidenceSummary: Hashable, Sendable {
    /// What the payload is: a raw value of `PayloadKind`.
    public let evidenceKind: String
    /// The channel it came by.
    public let source: String
    /// Why it is believed: a raw value of `Verification.Trust`.
    public let trust: String
}

extension EventLog {
    /// Where the events of a stream came from, by the digest of their evidence.
    ///
    /// An event carries the trust of the payload that brought it first; what only repeated it left
    /// no evidence. A payload that is missing is left out; `verify` finds that.
    public func evidenceSummaries(
        of history: StreamHistory
    ) async throws(EventLogError) -> [Digest: EvidenceSummary] {
        let lane = identity.lanes.lane(of: history.stream.originalTransactionId)
        let digests = Set(history.events.map(\.evidence)).map(\.bytes)
        return try await reading("read the evidence of a stream") { session in
            let rows = try await session.query(
                EvidenceSummary.sql,
                [.int4(Int32(lane)), .byteaArray(digests)]
            )
            return try EvidenceSummary.byDigest(rows)
        }
    }
}

extension EvidenceSummary {
    /// Finds the payloads of lane `$1` with the digests `$2`.
    static let sql = """
        SELECT digest, kind, source, verification FROM ledger.evidence
        WHERE lane = $1 AND digest = ANY ($2)
        """

    /// The summaries in its rows.
    static func byDigest(_ rows: PostgresRows) throws -> [Digest: EvidenceSummary] {
        var found: [Digest: EvidenceSummary] = [:]
        for row in rows {
            guard let digest = Digest(bytes: try row.bytea(0)) else { continue }
            found[digest] = EvidenceSummary(
                evidenceKind: try row.text(1),
                source: try row.text(2),
                trust: try row.text(3)
            )
        }
        return found
    }
}
