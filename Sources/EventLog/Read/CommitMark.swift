package import Events
internal import Postgres

/// A commit of the log with the digest that chains it.
package struct CommitMark: Hashable, Sendable {
    /// Its columns.
    package let commit: Commit
    /// Its digest, which covers all commits before it.
    package let digest: Digest

    /// Offset of the newest event up to this commit; 0 before the first.
    package var offset: Int64 { commit.lastOffset }
}

extension CommitMark {
    /// The columns of a commit, from table alias `c`.
    static let columns = """
        c.lane, c.commit_no, c.first_offset, c.count, c.first_evidence_no, c.evidence,
        c.confirmations, c.committed_at, c.format, c.digest
        """

    /// The commit in a row of `columns`.
    init(in row: PostgresRow) throws {
        let number = try row.int8(1)
        commit = Commit(
            lane: Int(try row.int4(0)),
            number: number,
            firstOffset: try row.int8(2),
            count: Int(try row.int4(3)),
            firstEvidence: try row.int8(4),
            evidence: Int(try row.int4(5)),
            confirmations: Int(try row.int4(6)),
            committedAt: Instant(microseconds: try row.timestamptz(7)),
            format: Int(try row.int4(8))
        )
        digest = try CommitMark.digest(in: row, 9, of: number)
    }

    static func digest(in row: PostgresRow, _ column: Int, of number: Int64) throws -> Digest {
        guard let digest = Digest(bytes: try row.bytea(column)) else {
            throw EventLogError(
                .malformedLog,
                "commit \(number) has no digest of \(Digest.byteCount) bytes; run `subledger verify`"
            )
        }
        return digest
    }
}
