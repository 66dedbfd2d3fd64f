package import Events
internal import Postgres

extension EventLog {
    /// Reads the heads of all lanes, in one snapshot and in time proportional to the lanes.
    ///
    /// The rows of the log are not verified; `verify` does that.
    ///
    /// - Returns: The checkpoint, dated by the clock that stamps commits: the database server's. All
    ///   its heads were committed by then.
    /// - Throws: `databaseUnavailable`; `malformedLog` if the heads are not those of a ledger.
    package func checkpoint() async throws(EventLogError) -> Checkpoint {
        let (identity, clock) = (identity, making.clock)
        return try await reading("take a checkpoint") { session in
            let rows = try await session.atomically(.readOnlySnapshot) { session in
                // One probe of the index for each lane, even if nothing was analysed yet.
                try session.execute(EventLog.prepareProbes)
                return try session.query(EventLog.readHeads)
            }

            var heads: [Checkpoint.Head] = []
            for row in rows where try !row.isNull(2) {
                heads.append(try EventLog.checkpointHead(in: row))
            }
            guard rows.count == identity.lanes.value,
                let checkpoint = Checkpoint(
                    identity: identity,
                    takenAt: try clock?() ?? Instant(microseconds: rows[0].timestamptz(0)),
                    heads: heads
                )
            else {
                throw EventLogError(
                    .malformedLog,
                    "the lanes of the log do not have the form that this program writes; run "
                        + "`subledger verify`"
                )
            }
            return checkpoint
        }
    }

    /// Stores a checkpoint in the ledger; the same one is stored only once.
    ///
    /// It does not block appends. `schema/README.md` explains what it proves: a copy outside the
    /// database proves more.
    ///
    /// - Throws: `permissionDenied` for a role that may only read; `databaseUnavailable`, also on a
    ///   standby.
    package func record(_ signed: SignedCheckpoint) async throws(EventLogError) {
        let body = signed.checkpoint.canonicalBytes
        let digest = Digest.of(body)
        try await writing(
            "keep the checkpoint in ledger.checkpoint",
            """
            INSERT INTO ledger.checkpoint (lane, taken_at, digest, public_key, signature, body)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
            """,
            [
                .int4(Int32(identity.lanes.lane(of: digest.hex))),
                .timestamptz(microseconds: signed.checkpoint.takenAt.microseconds),
                .bytea(digest.bytes), .bytea(signed.signature?.publicKey.der),
                .bytea(signed.signature?.value), .bytea(body),
            ]
        )
    }

    static let prepareProbes = """
        SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off
        """

    static let readHeads = """
        SELECT (SELECT date_trunc('milliseconds', clock_timestamp())), l.lane, h.commit_no,
            h.last_offset, h.last_evidence_no, h.digest
        FROM ledger.lane l LEFT JOIN LATERAL (
            SELECT commit_no, first_offset + (count - 1) AS last_offset,
                first_evidence_no + (evidence - 1) AS last_evidence_no, digest
            FROM ledger.commit c
            WHERE c.lane = l.lane ORDER BY commit_no DESC LIMIT 1) h ON true
        ORDER BY l.lane
        """

    private static func checkpointHead(in row: PostgresRow) throws -> Checkpoint.Head {
        let commit = try row.int8(2)
        return Checkpoint.Head(
            lane: Int(try row.int4(1)),
            commit: commit,
            offset: try row.int8(3),
            evidence: try row.int8(4),
            digest: try CommitMark.digest(in: row, 5, of: commit)
        )
    }
}
