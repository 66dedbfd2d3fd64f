package import Events
internal import Postgres

extension LedgerInspector {
    /// The newest checkpoint in the ledger, compared with the log.
    package struct NewestCheckpoint: Sendable {
        /// When it was taken, on the server's clock.
        package let takenAt: Instant
        /// How long ago that was, in milliseconds.
        package let ageMilliseconds: Int64
        /// Whether it is signed.
        package let isSigned: Bool
        /// The first lane whose commit differs from the one that the checkpoint names, and that
        /// commit; nil if the log contains all of them.
        package let mismatch: (lane: Int, commit: Int64)?
    }

    /// Reads the newest checkpoint and looks up its commits; `verify` proves all of them.
    ///
    /// Rows that are dated later than the server's clock are not considered, because any writer can
    /// insert one, and it would stay the newest: ``checkpointsDatedLater()`` counts them.
    ///
    /// - Returns: The checkpoint; nil if none is stored.
    /// - Throws: `databaseUnavailable`, `permissionDenied`; `malformedLog` if the row is not a
    ///   checkpoint.
    package func newestCheckpoint() async throws(EventLogError) -> NewestCheckpoint? {
        try await asking("read the newest checkpoint") { session in
            let rows = try await session.query(
                """
                SELECT taken_at, body, signature IS NOT NULL,
                    (extract(epoch FROM clock_timestamp() - taken_at) * 1000)::bigint
                FROM ledger.checkpoint
                WHERE isfinite(taken_at) AND \(StoredCheckpoints.isNotDatedLater)
                ORDER BY taken_at DESC, digest DESC LIMIT 1
                """
            )
            guard let row = rows.first else { return nil }
            let takenAt = Instant(microseconds: try row.timestamptz(0))
            guard let checkpoint = Checkpoint(canonicalBytes: try row.bytea(1)) else {
                throw EventLogError(
                    .malformedLog,
                    "the row of \(takenAt) in ledger.checkpoint is not a checkpoint; run "
                        + "`subledger verify`"
                )
            }

            var mismatch: (lane: Int, commit: Int64)?
            for head in checkpoint.heads where mismatch == nil {
                let found = try await session.query(
                    "SELECT digest = $3 FROM ledger.commit WHERE lane = $1 AND commit_no = $2",
                    [.int4(Int32(head.lane)), .int8(head.commit), .bytea(head.digest.bytes)]
                )
                if try found.first?.bool(0) != true { mismatch = (head.lane, head.commit) }
            }
            return NewestCheckpoint(
                takenAt: takenAt,
                ageMilliseconds: try row.int8(3),
                isSigned: try row.bool(2),
                mismatch: mismatch
            )
        }
    }

    /// Counts the rows of `ledger.checkpoint` that are dated later than the server's clock; `verify`
    /// names them.
    ///
    /// - Throws: `databaseUnavailable`, `permissionDenied`.
    package func checkpointsDatedLater() async throws(EventLogError) -> Int64 {
        try await asking("count the checkpoints that are dated later") { session in
            try await session.query(
                """
                SELECT count(*) FROM ledger.checkpoint
                WHERE NOT (\(StoredCheckpoints.isNotDatedLater))
                """
            ).single().int8(0)
        }
    }
}
