internal import Events
internal import Postgres

/// Commits that were made after a checkpoint was taken, but are dated before it.
///
/// They would change what was known at a time that had passed. Within a lane the times never
/// decrease, so only the first commit after each head matters.
enum BackdatedCommits {
    /// How far before the checkpoint such a commit may be dated: an append that was under way when
    /// the heads were read may take a while, and a standby's clock may differ from the primary's.
    static let skewMillisecondsMax: Int64 = 300_000

    /// The first one of each lane and checkpoint.
    ///
    /// - Parameters:
    ///   - kept: The checkpoints, of this ledger and stored outside.
    ///   - lanes: The lanes of the ledger: one without a head had no commit.
    ///   - session: A connection that nothing else uses in the meantime.
    /// - Returns: Each as a mismatch.
    /// - Throws: What the database refused.
    static func find(
        after kept: [KeptHeads],
        lanes: LaneCount,
        _ session: PostgresSession
    ) async throws -> [VerificationReport.Mismatch] {
        var found: [VerificationReport.Mismatch] = []
        for kept in kept {
            guard let takenAt = kept.takenAt else { continue }
            var next = [Int64](repeating: 1, count: lanes.value)
            for head in kept.heads where next.indices.contains(head.lane) {
                next[head.lane] = head.commit.addingWithinRange(1)
            }
            let floor = takenAt.milliseconds.addingWithinRange(-skewMillisecondsMax)
            let rows = try await session.probe(
                """
                SELECT c.lane, c.commit_no, c.committed_at
                FROM unnest($1::int[], $2::bigint[]) AS k (lane, commit_no)
                JOIN ledger.commit c ON c.lane = k.lane AND c.commit_no = k.commit_no
                WHERE c.committed_at < timestamptz 'epoch' + $3 * interval '1 millisecond'
                ORDER BY c.lane
                """,
                [
                    .int4Array(next.indices.map { Int32($0) }), .int8Array(next), .int8(floor),
                ]
            )

            for row in rows {
                let time = Instant(microseconds: try row.timestamptz(2))
                found.append(
                    VerificationReport.Mismatch(
                        lane: Int(try row.int4(0)),
                        commit: try row.int8(1),
                        reason: "it is dated \(time), but \(kept.source) of \(takenAt) does not "
                            + "contain it: it was made later, and changes what was known then"
                    )
                )
            }
        }
        return found
    }
}
