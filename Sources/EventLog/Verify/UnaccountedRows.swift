internal import Events
internal import Postgres

/// Rows that no commit accounts for: they were inserted bypassing the chain.
///
/// Every look-up is a probe of an index, even in a long log: rows within the verified commits were
/// read with them.
enum UnaccountedRows {
    /// The first such row of each of these lanes, whose chains were verified.
    static func find(
        in lanes: [Int],
        _ session: PostgresSession
    ) async throws -> [Int: VerificationReport.Mismatch] {
        let lanes = PostgresValue.int4Array(lanes.map { Int32($0) })
        // One statement, which sees one state even if commits are made in the meantime.
        let rows = try await session.query(sql, [lanes])
        let found = try rows.compactMap { try mismatch(in: $0) }
        return Dictionary(found.map { ($0.lane, $0) }) { $1 }
    }

    private static func mismatch(in row: PostgresRow) throws -> VerificationReport.Mismatch? {
        let (lane, newest) = (Int(try row.int4(0)), try row.int8(1))
        func mismatch(
            _ commit: Int64,
            _ reason: String,
            offset: Int64? = nil
        ) -> VerificationReport.Mismatch {
            VerificationReport.Mismatch(lane: lane, commit: commit, offset: offset, reason: reason)
        }

        if let offset = try row.int8IfPresent(2) {
            return mismatch(
                newest.addingWithinRange(1),
                "event \(offset) belongs to no commit",
                offset: offset
            )
        }
        if let commit = try row.int8IfPresent(3) {
            return mismatch(
                commit,
                "confirmations of this commit are stored, but the commit is missing"
            )
        }
        if let commit = try row.int8IfPresent(4) {
            return mismatch(commit, "invalid commit number: commits are numbered from 1")
        }
        if let number = try row.int8IfPresent(5) {
            return mismatch(newest, "evidence \(number) belongs to no commit")
        }
        if let version = try row.int4IfPresent(6) {
            return mismatch(newest, "version \(version) of the catalog belongs to no event")
        }
        return nil
    }

    // Numbers of a commit that is not verified may be near the end of their range.
    private static let room = "4611686018427387904"

    private static let sql = """
        WITH version AS (
            SELECT c.lane, min(c.version) AS extra
            FROM ledger.catalog c LEFT JOIN (
                SELECT e.lane, ledger.content_fields(e.content) ->> 'catalogVersion' AS version
                FROM ledger.event e
                WHERE e.lane = ledger.lane_of('catalog') AND e.lane = ANY ($1)
                    AND e.environment = '' AND e.original_transaction_id = 'catalog'
                    AND e.kind = 'catalog'
            ) e ON e.lane = c.lane AND e.version = c.version::text
            WHERE c.lane = ANY ($1) AND e.version IS NULL
            GROUP BY c.lane
        )
        SELECT l.lane, coalesce(k.commit_no, 0),
            coalesce(
                (SELECT min(lane_offset) FROM ledger.event e
                 WHERE e.lane = l.lane AND e.lane_offset < 1),
                (SELECT min(lane_offset) FROM ledger.event e
                 WHERE e.lane = l.lane AND e.lane_offset > coalesce(k.last_offset, 0))),
            coalesce(
                (SELECT min(commit_no) FROM ledger.confirmation c
                 WHERE c.lane = l.lane AND c.commit_no < 1),
                (SELECT min(commit_no) FROM ledger.confirmation c
                 WHERE c.lane = l.lane AND c.commit_no > coalesce(k.commit_no, 0))),
            (SELECT min(commit_no) FROM ledger.commit c
             WHERE c.lane = l.lane AND c.commit_no < 1),
            coalesce(
                (SELECT min(evidence_no) FROM ledger.evidence e
                 WHERE e.lane = l.lane AND e.evidence_no < 1),
                (SELECT min(evidence_no) FROM ledger.evidence e
                 WHERE e.lane = l.lane AND e.evidence_no > coalesce(k.last_evidence_no, 0))),
            v.extra
        FROM ledger.lane AS l
        LEFT JOIN LATERAL (
            SELECT c.commit_no, least(c.first_offset, \(room)) + (c.count - 1) AS last_offset,
                least(c.first_evidence_no, \(room)) + (c.evidence - 1) AS last_evidence_no
            FROM ledger.commit c
            WHERE c.lane = l.lane ORDER BY c.commit_no DESC LIMIT 1) k ON true
        LEFT JOIN version v ON v.lane = l.lane
        WHERE l.lane = ANY ($1)
        """
}
