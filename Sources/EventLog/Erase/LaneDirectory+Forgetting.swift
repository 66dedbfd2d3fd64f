internal import Events
internal import Postgres

// Removing what was erased.
extension LaneDirectory {
    /// Removes the keys of what an erasure removed from a lane, unless other rows there have it.
    ///
    /// No append lists keys for the lane meanwhile, and one that was decided before the erasure
    /// lists none afterwards: it is stale.
    static func forget(
        _ removed: ErasureReading.Removed,
        lane: Int,
        in session: isolated PostgresSession
    ) throws {
        try lock(lane, in: session)
        guard try waitForAppends(to: lane, in: session) else { return }
        let kept = try kept(removed, lane: lane, in: session)
        let gone = Set(removed.ids.map(key) + removed.digests.map(key)).subtracting(kept)
        _ = try session.query(
            "DELETE FROM operation.lookup_key WHERE lane = $1 AND key = ANY ($2)",
            [.int4(Int32(lane)), .int8Array(Array(gone))]
        )
    }

    /// How often to look whether an append that has listed its keys has written its rows; a hundredth
    /// of a second each.
    private static let waitsMax = 200

    // Whether the lane has a row; it is then based on the newest commit. An append that was killed never writes its rows. It may only be slow, so
    // the lane no longer counts as complete.
    private static func waitForAppends(
        to lane: Int,
        in session: isolated PostgresSession
    ) throws -> Bool {
        var head = try head(of: lane, in: session)
        for wait in 0... {
            let row = try session.query(
                "SELECT digest = $2 AND announced <> '{}' FROM operation.lookup_lane WHERE lane = $1",
                [.int4(Int32(lane)), .bytea(head.digest ?? [])]
            ).first
            guard let row else { return false }
            let isPending = try row.bool(0)
            if isPending, wait < waitsMax {
                _ = try session.query("SELECT pg_sleep(0.01)")
                head = try self.head(of: lane, in: session)
                continue
            }

            _ = try session.query(
                """
                UPDATE operation.lookup_lane
                SET is_complete = is_complete AND NOT $4
                        AND (digest = $3 OR $3 = ANY (announced)),
                    commit_no = $2, digest = $3, announced = '{}'
                WHERE lane = $1
                """,
                [
                    .int4(Int32(lane)), .int8(head.number), .bytea(head.digest ?? []),
                    .bool(isPending),
                ]
            )
            return true
        }
        return false
    }

    // The keys of what other rows of the lane have.
    private static func kept(
        _ removed: ErasureReading.Removed,
        lane: Int,
        in session: isolated PostgresSession
    ) throws -> Set<Int64> {
        let lane = PostgresValue.int4(Int32(lane))
        let found = try session.pipeline([
            PostgresStatement(
                keptIds,
                [lane, .textArray(removed.ids.map { String(decoding: $0, as: UTF8.self) })]
            ),
            PostgresStatement(
                """
                SELECT v.digest FROM ledger.evidence v
                WHERE v.lane = $1 AND v.digest = ANY ($2) AND substr(v.digest, 1, 7) = ANY ($3)
                    AND v.kind IN (\(StreamLookUp.receiptKinds))
                """,
                [
                    lane, .byteaArray(removed.digests.map(\.bytes)),
                    .byteaArray(removed.digests.map { Array($0.bytes.prefix(7)) }),
                ]
            ),
        ])
        return Set(
            try found[0].map { key(try $0.text(0).utf8) }
                + found[1].compactMap { Digest(bytes: try $0.bytea(0)).map(key) }
        )
    }

    private static let keptIds =
        [
            "transaction_id", "web_order_line_item_id", "app_transaction_id", "app_account_token",
            "customer_id",
        ]
        .map { "SELECT \($0) FROM ledger.event WHERE lane = $1 AND \($0) = ANY ($2)" }
        .joined(separator: " UNION ") + """
             UNION
            SELECT ledger.content_text(content, 24) FROM ledger.event
            WHERE lane = $1 AND \(StreamLookUp.isContinuation)
                AND ledger.content_text(content, 24) COLLATE "C" = ANY ($2)
            UNION
            SELECT t.id FROM ledger.confirmation c CROSS JOIN LATERAL unnest(c.transaction_ids) AS t (id)
            WHERE c.lane = $1 AND c.transaction_ids && $2 AND t.id = ANY ($2)
            """
}
