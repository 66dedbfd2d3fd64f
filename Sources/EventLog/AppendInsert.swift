internal import Events
internal import Postgres

/// The rows of one commit, as few statements over arrays.
struct AppendInsert {
    private(set) var statements: [PostgresStatement] = []
    /// Segments that are stored once the statements have committed.
    private(set) var segments: [Digest] = []

    init(_ plan: AppendPlan, stored: Set<Digest>) {
        let lane = PostgresValue.int4(Int32(plan.commit.lane))
        // First, so that a writer who lost the race finds out before any other row of both collides.
        appendCommit(plan, lane: lane)
        appendSegments(of: plan.evidence, lane: lane, stored: stored)
        if !plan.evidence.isEmpty { appendEvidence(plan.evidence, lane: lane) }
        if !plan.events.isEmpty { appendEvents(plan.events, plan.commit, lane: lane) }
        if !plan.confirmations.isEmpty {
            appendConfirmations(plan.confirmations, plan.commit, lane: lane)
        }
    }

    /// Whether a refused append met the commit of another writer: its primary key is the lock.
    ///
    /// Told by the statement, for partitions and shards give the constraint names of their own. Any
    /// other unique violation is a bug and stays an error.
    static func isLostRace(_ error: PostgresError) -> Bool {
        error.sqlState == "23505" && error.statementIndex == 0
    }

    private mutating func appendCommit(_ plan: AppendPlan, lane: PostgresValue) {
        let commit = plan.commit
        statements.append(
            PostgresStatement(
                AppendInsert.commit,
                [
                    lane, .int8(commit.number), .int8(commit.firstOffset),
                    .int4(Int32(commit.count)), .int4(Int32(commit.confirmations)),
                    .timestamptz(microseconds: commit.committedAt.microseconds),
                    .bytea(plan.digest.bytes),
                ]
            )
        )
    }

    private mutating func appendSegments(
        of evidence: [Submission],
        lane: PostgresValue,
        stored: Set<Digest>
    ) {
        var seen = stored
        var bodies: [[UInt8]] = []
        for segment in evidence.flatMap(\.packed.segments)
        where seen.insert(segment.digest).inserted {
            segments.append(segment.digest)
            bodies.append(segment.body)
        }
        guard !segments.isEmpty else { return }
        statements.append(
            PostgresStatement(
                AppendInsert.segment,
                [lane, .byteaArray(segments.map(\.bytes)), .byteaArray(bodies)]
            )
        )
    }

    private mutating func appendEvidence(_ submissions: [Submission], lane: PostgresValue) {
        let evidence = submissions.map(\.evidence)
        statements.append(
            PostgresStatement(
                AppendInsert.evidence,
                [
                    lane,
                    .int4Array(evidence.map { Int32($0.payload.count) }),
                    .int8Array(evidence.map(\.receivedAt.milliseconds)),
                    .byteaArray(evidence.map(\.digest.bytes)),
                    .textArray(evidence.map(\.kind.rawValue)),
                    .textArray(evidence.map(\.source)),
                    .textArray(evidence.map(\.verification.trust.rawValue)),
                    .byteaArray(evidence.map(\.verification.root.bytes)),
                    .byteaArray(submissions.map { $0.packed.segments.first?.digest.bytes }),
                    .byteaArray(submissions.map(\.packed.body)),
                ]
            )
        )
    }

    private mutating func appendEvents(
        _ new: [AppendPlan.NewEvent],
        _ commit: Commit,
        lane: PostgresValue
    ) {
        let facts = new.map(\.event.fact)
        let contents = facts.map(\.content)
        statements.append(
            PostgresStatement(
                AppendInsert.event,
                [
                    lane, .timestamptz(microseconds: commit.committedAt.microseconds),
                    .int8Array(new.map(\.event.position.offset)),
                    .int8Array(facts.map(\.asOf.milliseconds)),
                    .int8Array(facts.map(\.purchaseDate.milliseconds)),
                    .int8Array(facts.map(\.expiresDate.milliseconds)),
                    .textArray(facts.map(\.stream.environment.word)),
                    .textArray(facts.map(\.stream.originalTransactionId)),
                    .textArray(facts.map(\.kind.rawValue)),
                    .textArray(facts.map(\.bundleId)),
                    .textArray(contents.map { $0.text(.productId) }),
                    .textArray(contents.map { $0.text(.transactionId) }),
                    .textArray(contents.map { $0.text(.appAccountToken) }),
                    .textArray(contents.map { $0.text(.notificationType) }),
                    .textArray(contents.map { $0.text(.subtype) }),
                    .byteaArray(new.map(\.contentDigest)),
                    .byteaArray(new.map(\.event.evidence.bytes)),
                    .byteaArray(new.map(\.contentBytes)),
                ]
            )
        )
    }

    private mutating func appendConfirmations(
        _ new: [AppendPlan.NewConfirmation],
        _ commit: Commit,
        lane: PostgresValue
    ) {
        let confirmations = new.map(\.confirmation)
        statements.append(
            PostgresStatement(
                AppendInsert.confirmation,
                [
                    lane, .int8(commit.number), .int8(commit.firstOffset),
                    .int8Array(confirmations.map(\.position.offset)),
                    .int8Array(confirmations.map(\.asOf.milliseconds)),
                    .int8Array(confirmations.map { Int64(bitPattern: $0.fields.rawValue) }),
                    .textArray(new.map(\.stream.environment.word)),
                    .textArray(new.map(\.stream.originalTransactionId)),
                    .textArray(confirmations.map(\.transactionId)),
                ]
            )
        )
    }

    // Content-addressed: whoever stored the segment stored these bytes.
    private static let segment = """
        INSERT INTO ledger.evidence_segment (lane, digest, body)
        SELECT $1, s.digest, s.body FROM unnest($2::bytea[], $3::bytea[]) AS s (digest, body)
        ON CONFLICT DO NOTHING
        """

    private static let evidence = """
        INSERT INTO ledger.evidence (lane, byte_count, received_at, digest, kind, source,
            verification, root_digest, header_digest, body)
        SELECT $1, e.byte_count, timestamptz 'epoch' + e.received_ms * interval '1 millisecond',
            e.digest, e.kind, e.source, e.verification, e.root_digest, e.header_digest, e.body
        FROM unnest($2::int[], $3::bigint[], $4::bytea[], $5::text[], $6::text[], $7::text[],
            $8::bytea[], $9::bytea[], $10::bytea[]) AS e (byte_count, received_ms, digest, kind,
            source, verification, root_digest, header_digest, body)
        """

    private static let event = """
        INSERT INTO ledger.event (lane, recorded_at, lane_offset, as_of_ms, purchase_date_ms,
            expires_date_ms, environment, original_transaction_id, kind, bundle_id, product_id,
            transaction_id, app_account_token, notification_type, subtype, content_digest,
            evidence_digest, content)
        SELECT $1, $2, e.* FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
            $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
            $13::text[], $14::text[], $15::text[], $16::bytea[], $17::bytea[], $18::bytea[]) AS e
        """

    private static let confirmation = """
        INSERT INTO ledger.confirmation (lane, commit_no, known_from_offset, lane_offset, as_of_ms,
            fields, environment, original_transaction_id, transaction_id)
        SELECT $1, $2, $3, c.* FROM unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
            $8::text[], $9::text[]) AS c
        """

    private static let commit = """
        INSERT INTO ledger.commit (lane, commit_no, first_offset, count, confirmations,
            committed_at, digest)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
}
