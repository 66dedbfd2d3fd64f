internal import Events
internal import Postgres

// Listing the ids of a lane from the log, while programs append.
extension LaneDirectory {
    /// Adds a row for each lane that has none; appends list their ids from then on.
    static func open(_ lanes: LaneCount, in session: isolated PostgresSession) throws {
        _ = try session.query(
            """
            INSERT INTO operation.lookup_lane (lane, timeline, commit_no, is_complete, digest, announced)
            SELECT lane, '', 0, false, '', '{}' FROM generate_series(0, $1 - 1) AS l (lane)
            ON CONFLICT DO NOTHING
            """,
            [.int4(Int32(lanes.value))]
        )
    }

    /// Empties the directory of a ledger that is not distributed: a dump of a distributed one.
    static func close(in session: isolated PostgresSession) throws {
        guard try session.query(exists).single().bool(0) else { return }
        try session.execute("DELETE FROM operation.lookup_lane; DELETE FROM operation.lookup_key")
    }

    /// Which lanes `migrate` has something to do for.
    struct Unlisted {
        /// The lanes to fill, ascending.
        var lanes: [Int] = []
        /// The lanes that were complete on another timeline, and still are.
        var unconfirmed: [Int] = []
    }

    /// Compares the directory with the heads of the lanes.
    ///
    /// - Parameters:
    ///   - identity: The ledger.
    ///   - session: In a transaction that sees what others commit meanwhile.
    /// - Returns: The lanes whose ids may be missing.
    /// - Throws: Errors of the database.
    static func unlisted(
        _ identity: LedgerIdentity,
        in session: isolated PostgresSession
    ) throws -> Unlisted {
        let before = try rows(in: session)
        let heads = try heads(in: session)
        // A lane may have moved on since its row was read.
        let after = try rows(in: session)
        var found = Unlisted()
        for lane in 0..<identity.lanes.value {
            let head = heads[lane] ?? (0, identity.genesis(lane: lane).bytes)
            guard let row = after[lane], row.isComplete, !row.timeline.isEmpty,
                before[lane].map({ $0.number <= head.number }) ?? true,
                row.number > head.number || row.digests.contains(head.digest)
            else {
                found.lanes.append(lane)
                continue
            }
            if !row.isOfTimeline { found.unconfirmed.append(lane) }
        }
        return found
    }

    /// Lists all ids of a lane, in several transactions, while programs append to it.
    ///
    /// Appends list their own ids since the lane has a row. Each later commit must have been
    /// announced, or the lane is not complete at the end.
    static func fill(
        _ lane: Int,
        of identity: LedgerIdentity,
        in session: PostgresSession
    ) async throws {
        let last = try await session.atomically { session in
            try lock(lane, in: session)
            let head = try head(of: lane, in: session)
            _ = try session.query(
                """
                UPDATE operation.lookup_lane
                SET timeline = '', is_complete = true, commit_no = $2, digest = $3,
                    announced = CASE WHEN digest = $3 THEN announced ELSE '{}' END
                WHERE lane = $1
                """,
                [
                    .int4(Int32(lane)), .int8(head.number),
                    .bytea(head.digest ?? identity.genesis(lane: lane).bytes),
                ]
            )
            return head.number
        }

        var (next, size) = (Int64(1), Int64(32))
        while next <= last {
            let end = min(next + size - 1, last)
            let count = try await session.atomically { [next] session -> Int64 in
                try lock(lane, in: session)
                return try list(commits: next...end, of: lane, in: session)
            }
            // Appends to the lane wait for each part.
            size = count > 20_000 ? max(1, size / 2) : min(size * 2, 4096)
            next = end + 1
        }
        try await confirm([lane], in: session)
    }

    /// Makes look-ups trust lanes that are complete.
    static func confirm(_ lanes: [Int], in session: PostgresSession) async throws {
        _ = try await session.query(
            "UPDATE operation.lookup_lane SET timeline = \(timeline) WHERE lane = ANY ($1)",
            [.int4Array(lanes.map(Int32.init))]
        )
    }

    /// Locks the row of a lane: no append announces a commit meanwhile.
    static func lock(_ lane: Int, in session: isolated PostgresSession) throws {
        _ = try session.query(
            "SELECT FROM operation.lookup_lane WHERE lane = $1 FOR UPDATE",
            [.int4(Int32(lane))]
        )
    }

    private struct Row {
        let number: Int64
        let isComplete: Bool
        let timeline: String
        let isOfTimeline: Bool
        let digests: [[UInt8]]
    }

    private static func rows(in session: isolated PostgresSession) throws -> [Int: Row] {
        var rows: [Int: Row] = [:]
        for row in try session.query(
            """
            SELECT lane, commit_no, is_complete, timeline, timeline = \(timeline),
                announced || digest
            FROM operation.lookup_lane
            """
        ) {
            rows[Int(try row.int4(0))] = Row(
                number: try row.int8(1),
                isComplete: try row.bool(2),
                timeline: try row.text(3),
                isOfTimeline: try row.bool(4),
                digests: (try row.byteaArray(5) ?? []).compactMap { $0 }
            )
        }
        return rows
    }

    private static func heads(
        in session: isolated PostgresSession
    ) throws -> [Int: (number: Int64, digest: [UInt8])] {
        var heads: [Int: (number: Int64, digest: [UInt8])] = [:]
        for row in try session.query(
            """
            SELECT l.lane, h.commit_no, h.digest FROM ledger.lane l CROSS JOIN LATERAL (
                SELECT commit_no, digest FROM ledger.commit c WHERE c.lane = l.lane
                ORDER BY commit_no DESC LIMIT 1) h
            """
        ) { heads[Int(try row.int4(0))] = (try row.int8(1), try row.bytea(2)) }
        return heads
    }

    // The number of their events.
    private static func list(
        commits: ClosedRange<Int64>,
        of lane: Int,
        in session: isolated PostgresSession
    ) throws -> Int64 {
        let row = try session.query(
            """
            SELECT min(first_offset), max(first_offset + count), min(first_evidence_no),
                max(first_evidence_no + evidence)
            FROM ledger.commit WHERE lane = $1 AND commit_no BETWEEN $2 AND $3
            """,
            [.int4(Int32(lane)), .int8(commits.lowerBound), .int8(commits.upperBound)]
        ).single()
        guard let first = try row.int8IfPresent(0) else { return 0 }
        let offsets = first..<max(first, try row.int8(1))
        let evidence = try row.int8(2)..<max(try row.int8(2), try row.int8(3))
        try session.execute(
            """
            INSERT INTO operation.lookup_key (key, lane)
            SELECT key, lane FROM (\(keys(ofLane: lane, commits, offsets, evidence))) AS k
            ON CONFLICT DO NOTHING
            """
        )
        return Int64(offsets.count)
    }

    private static func keys(
        ofLane lane: Int,
        _ commits: ClosedRange<Int64>,
        _ offsets: Range<Int64>,
        _ evidence: Range<Int64>
    ) -> String {
        func key(_ digest: String) -> String {
            "('x' || encode(substr(\(digest), 1, 8), 'hex'))::bit(64)::bigint"
        }
        let id = key("sha256(convert_to(t.id, 'UTF8'))")
        return """
            SELECT e.lane, \(id) AS key
            FROM ledger.event e CROSS JOIN LATERAL (VALUES (e.transaction_id),
                (e.web_order_line_item_id), (e.app_transaction_id), (e.app_account_token),
                (e.customer_id), (CASE WHEN \(StreamLookUp.isContinuation)
                    THEN ledger.content_text(e.content, 24) END)) AS t (id)
            WHERE e.lane = \(lane) AND e.lane_offset >= \(offsets.lowerBound)
                AND e.lane_offset < \(offsets.upperBound) AND t.id <> ''
            UNION
            SELECT c.lane, \(id) FROM ledger.confirmation c
            CROSS JOIN LATERAL unnest(c.transaction_ids) AS t (id)
            WHERE c.lane = \(lane)
                AND c.commit_no BETWEEN \(commits.lowerBound) AND \(commits.upperBound)
            UNION
            SELECT v.lane, \(key("v.digest")) FROM ledger.evidence v
            WHERE v.lane = \(lane) AND v.evidence_no >= \(evidence.lowerBound)
                AND v.evidence_no < \(evidence.upperBound)
                AND v.kind IN (\(StreamLookUp.receiptKinds)) AND v.digest IS NOT NULL
            """
    }
}
