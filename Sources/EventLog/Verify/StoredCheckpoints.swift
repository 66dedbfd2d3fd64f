internal import Events
internal import Postgres

/// Reads the rows of `ledger.checkpoint` page by page, by time.
struct StoredCheckpoints {
    /// Checkpoints in a page: with 1024 lanes, each has 60 KiB.
    static let pageMax = 64

    /// The next checkpoints, and rows that differ from what was stored.
    struct Page {
        var kept: [KeptHeads] = []
        /// Those, by name.
        var damaged: [String] = []
    }

    private let knownKeys: Set<CheckpointPublicKey>
    private var after: (microseconds: Int64, digest: [UInt8])
    private var isAtEnd = false

    /// All rows, or those that are at least as new as a checkpoint.
    init(since: Checkpoint?, knownKeys: Set<CheckpointPublicKey>) {
        self.knownKeys = knownKeys
        after = (since?.takenAt.microseconds ?? 0, [])
    }

    /// The next page; nil after the last.
    mutating func next(_ session: PostgresSession) async throws -> Page? {
        guard !isAtEnd else { return nil }
        let rows = try await session.query(
            """
            SELECT taken_at, digest, public_key, signature, body FROM ledger.checkpoint
            WHERE (taken_at, digest) > ($1, $2) ORDER BY taken_at, digest
            LIMIT \(StoredCheckpoints.pageMax)
            """,
            [.timestamptz(microseconds: after.microseconds), .bytea(after.digest)]
        )
        isAtEnd = rows.count < StoredCheckpoints.pageMax

        var page = Page()
        for row in rows {
            after = (try row.timestamptz(0), try row.bytea(1))
            let takenAt = Instant(microseconds: after.microseconds)
            guard let signed = try signed(row), signed.checkpoint.takenAt == takenAt else {
                page.damaged.append(
                    "the row with digest \(hexadecimal(after.digest)) in ledger.checkpoint"
                )
                continue
            }
            page.kept.append(
                KeptHeads(
                    signed.checkpoint,
                    source: "the row of \(takenAt) in ledger.checkpoint",
                    isOutside: signed.signature.map { knownKeys.contains($0.publicKey) } ?? false
                )
            )
        }
        return page
    }

    private func signed(_ row: PostgresRow) throws -> SignedCheckpoint? {
        let body = try row.bytea(4)
        guard try Digest.of(body).bytes == row.bytea(1),
            let checkpoint = Checkpoint(canonicalBytes: body)
        else { return nil }
        guard let der = try row.byteaIfPresent(2), let value = try row.byteaIfPresent(3) else {
            return SignedCheckpoint(checkpoint, signedBy: nil)
        }
        guard let key = CheckpointPublicKey(der: der) else { return nil }
        return SignedCheckpoint(
            checkpoint,
            signature: SignedCheckpoint.Signature(publicKey: key, value: value)
        )
    }
}
