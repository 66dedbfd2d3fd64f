package import Events
internal import Postgres

/// The origin of a statement: the kind of its evidence and why it is believed.
package struct EvidenceSummary: Hashable, Sendable {
    /// SHA-256 of the payload; nil if it was erased.
    package let digest: Digest?
    /// Whether its bytes are stored: not after an erasure, and not if it arrived after one.
    package let isKept: Bool
    /// The kind of payload: a raw value of `PayloadKind`.
    package let evidenceKind: String
    /// The channel it came by.
    package let source: String
    /// Whether it arrived live or through an import: a raw value of `Arrival`.
    package let arrival: String
    /// Why it is believed: a raw value of `Verification.Trust`.
    package let trust: String
}

extension EvidenceSummary {
    /// The number of a payload and its summary, from table alias `v`.
    static let columns = """
        v.evidence_no, v.digest, v.kind, v.source, v.is_imported, v.verification,
            v.body IS NOT NULL
        """

    /// Finds the payloads of lane `$1` with the numbers `$2`.
    static let sql = """
        SELECT \(columns) FROM ledger.evidence v
        WHERE v.lane = $1 AND v.evidence_no = ANY ($2)
        """

    /// Finds the payloads with `asked.digest`, in the form of the index.
    static let isAsked =
        "substr(digest, 1, 7) = substr(asked.digest, 1, 7) AND digest = asked.digest"

    static let knownSQL = """
        SELECT v.digest, v.verification, r.digest
        FROM unnest($1::bytea[]) AS asked (digest)
        CROSS JOIN LATERAL (SELECT * FROM ledger.evidence WHERE \(isAsked)) v
        LEFT JOIN ledger.root_certificate r USING (lane, root_key)
        """

    /// The summary in a row of `columns`.
    init(_ row: PostgresRow) throws {
        digest = try row.byteaIfPresent(1).flatMap(Digest.init(bytes:))
        isKept = try row.bool(6)
        evidenceKind = try row.text(2)
        source = try row.text(3)
        arrival = (try row.bool(4) ? Arrival.imported : .live).rawValue
        trust = try row.text(5)
    }

    /// The summaries in the rows of `sql`.
    static func byNumber(_ rows: PostgresRows) throws -> [Int64: EvidenceSummary] {
        var found: [Int64: EvidenceSummary] = [:]
        for row in rows { found[try row.int8(0)] = try EvidenceSummary(row) }
        return found
    }
}
