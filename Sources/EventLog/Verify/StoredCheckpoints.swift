internal import Events
internal import Postgres

/// Reads the rows of `ledger.checkpoint` page by page, by time.
struct StoredCheckpoints {
    /// Checkpoints in a page: with 1024 lanes, each has 60 KiB.
    static let pageMax = 64

    /// Whether a row is not dated later than the server's clock, with an allowance of five minutes
    /// for the clocks of other servers of the same database.
    static let isNotDatedLater = "taken_at <= statement_timestamp() + interval '300 seconds'"

    /// The next checkpoints, and rows that differ from what was stored.
    struct Page {
        var kept: [KeptHeads] = []
        /// Those, by name.
        var damaged: [String] = []
        /// Checkpoints that are dated later than the server's clock and are not signed with a known
        /// key, by name; they are also in `kept`.
        var datedLater: [String] = []
    }

    private let knownKeys: Set<CheckpointPublicKey>
    // As the server prints it: some of its times do not fit into an `Instant`.
    private var after: (takenAt: String, digest: [UInt8])
    private var isAtEnd = false

    /// All rows, or those that are at least as new as a checkpoint.
    init(since: Checkpoint?, knownKeys: Set<CheckpointPublicKey>) {
        self.knownKeys = knownKeys
        after = (since?.takenAt.description ?? "-infinity", [])
    }

    /// The next page; nil after the last.
    mutating func next(_ session: PostgresSession) async throws -> Page? {
        guard !isAtEnd else { return nil }
        let rows = try await session.query(
            """
            SELECT taken_at::text, digest, public_key, signature, body,
                CASE WHEN taken_at BETWEEN '0001-01-01' AND '9999-12-31' THEN taken_at END,
                \(StoredCheckpoints.isNotDatedLater)
            FROM ledger.checkpoint
            WHERE (taken_at, digest) > ($1::text::timestamptz, $2) ORDER BY taken_at, digest
            LIMIT \(StoredCheckpoints.pageMax)
            """,
            [.text(after.takenAt), .bytea(after.digest)]
        )
        isAtEnd = rows.count < StoredCheckpoints.pageMax

        var page = Page()
        for row in rows {
            after = (try row.text(0), try row.bytea(1))
            let fault = try row.bool(6) ? "" : " (dated later than the server's clock)"
            let takenAt = try row.timestamptzIfPresent(5).map(Instant.init(microseconds:))
            guard let takenAt, let signed = try signed(row), signed.checkpoint.takenAt == takenAt
            else {
                page.damaged.append(
                    "the row with digest \(hexadecimal(after.digest)) in ledger.checkpoint\(fault)"
                )
                continue
            }
            let kept = KeptHeads(
                signed.checkpoint,
                source: "the row of \(takenAt) in ledger.checkpoint\(fault)",
                isOutside: signed.signature.map { knownKeys.contains($0.publicKey) } ?? false
            )
            page.kept.append(kept)
            if !fault.isEmpty, !kept.isOutside { page.datedLater.append(kept.source) }
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
