internal import Events
internal import Postgres

/// The rows of one commit: a few statements over arrays, and COPY for many events.
struct AppendInsert {
    /// Events from which COPY is worth its round trips.
    static let copyEventsMin = 200

    /// Rows up to which a list of values is quicker than arrays, whose unnest costs a tenth of a
    /// millisecond to begin with.
    static let valuesRowsMax = 8

    /// Segments that are stored once the statements have committed.
    private(set) var segments: [Digest] = []

    private let plan: AppendPlan
    private var statements: [PostgresStatement] = []

    init(_ plan: AppendPlan, stored: Set<Digest>) {
        self.plan = plan
        let lane = PostgresValue.int4(Int32(plan.commit.lane))
        // First, so that a writer who lost the race finds out before any other row of both collides.
        appendCommit(plan, lane: lane)
        appendSegments(of: plan.evidence, lane: lane, stored: stored)
        if !plan.evidence.isEmpty { appendEvidence(plan.evidence, lane: lane) }
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

    /// Whether a refused append brought a payload that the lane holds already.
    ///
    /// Told by the table, or the partition that bears its name.
    static func isEvidenceStored(_ error: PostgresError) -> Bool {
        error.sqlState == "23505" && (error.tableName ?? "").hasPrefix("evidence")
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

    /// Whether the events go by COPY, which does not fit into one flush with the rest.
    var copies: Bool { plan.events.count >= AppendInsert.copyEventsMin }

    /// What to send in one flush, as one transaction.
    var allStatements: [PostgresStatement] {
        plan.events.isEmpty ? statements : statements + [eventStatement(plan.events, plan.commit)]
    }

    /// Writes the rows inside a transaction that is open.
    func run(in session: isolated PostgresSession) throws(PostgresError) {
        try session.pipeline(copies ? statements : allStatements)
        guard copies else { return }
        _ = try session.copyIn(AppendInsert.copyEvent, from: plan.events.startIndex) {
            [plan] index, writer throws(PostgresError) in
            guard index < plan.events.endIndex else { return false }
            writer.row(AppendInsert.row(of: plan.events[index], in: plan.commit))
            index += 1
            return true
        }
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
        if submissions.count <= AppendInsert.valuesRowsMax {
            let rows = submissions.map { AppendInsert.row(of: $0, lane: lane) }
            statements.append(AppendInsert.insert(rows, AppendInsert.evidenceTarget))
            return
        }
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
                    .byteaArray(evidence.map(\.verification.root?.bytes)),
                    .byteaArray(submissions.map { $0.packed.segments.first?.digest.bytes }),
                    .byteaArray(submissions.map(\.packed.body)),
                ]
            )
        )
    }

    private func eventStatement(
        _ new: [AppendPlan.NewEvent],
        _ commit: Commit
    ) -> PostgresStatement {
        if new.count <= AppendInsert.valuesRowsMax {
            let rows = new.map { AppendInsert.row(of: $0, in: commit) }
            return AppendInsert.insert(rows, AppendInsert.eventTarget)
        }
        let facts = new.map(\.event.fact)
        let contents = facts.map(\.content)
        return PostgresStatement(
            AppendInsert.event,
            [
                .int4(Int32(commit.lane)),
                .timestamptz(microseconds: commit.committedAt.microseconds),
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
                .textArray(contents.map { $0.text(.customerId) }),
                .byteaArray(new.map(\.contentDigest)),
                .byteaArray(new.map(\.event.evidence.bytes)),
                .byteaArray(new.map(\.contentBytes)),
            ]
        )
    }

    private static func insert(
        _ rows: [[PostgresValue]],
        _ target: String
    ) -> PostgresStatement {
        var number = 0
        let lists = rows.map { row in
            let names = row.map { _ in
                number += 1
                return "$\(number)"
            }
            return "(\(names.joined(separator: ", ")))"
        }
        return PostgresStatement(
            "INSERT INTO \(target) VALUES \(lists.joined(separator: ", "))",
            rows.flatMap { $0 }
        )
    }

    private static func row(of submission: Submission, lane: PostgresValue) -> [PostgresValue] {
        let evidence = submission.evidence
        return [
            lane, .int4(Int32(evidence.payload.count)),
            .timestamptz(microseconds: evidence.receivedAt.microseconds),
            .bytea(evidence.digest.bytes), .text(evidence.kind.rawValue), .text(evidence.source),
            .text(evidence.verification.trust.rawValue), .bytea(evidence.verification.root?.bytes),
            .bytea(submission.packed.segments.first?.digest.bytes),
            .bytea(submission.packed.body),
        ]
    }

    private static func row(
        of new: AppendPlan.NewEvent,
        in commit: Commit
    ) -> [PostgresValue] {
        let fact = new.event.fact
        let content = fact.content
        return [
            .int4(Int32(commit.lane)),
            .timestamptz(microseconds: commit.committedAt.microseconds),
            .int8(new.event.position.offset),
            .int8(fact.asOf.milliseconds),
            .int8(fact.purchaseDate.milliseconds),
            .int8(fact.expiresDate.milliseconds),
            .text(fact.stream.environment.word),
            .text(fact.stream.originalTransactionId),
            .text(fact.kind.rawValue),
            .text(fact.bundleId),
            .text(content.text(.productId)),
            .text(content.text(.transactionId)),
            .text(content.text(.appAccountToken)),
            .text(content.text(.notificationType)),
            .text(content.text(.subtype)),
            .text(content.text(.customerId)),
            .bytea(new.contentDigest),
            .bytea(new.event.evidence.bytes),
            .bytea(new.contentBytes),
        ]
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

    private static let evidenceTarget = """
        ledger.evidence (lane, byte_count, received_at, digest, kind, source, verification,
            root_digest, header_digest, body)
        """

    private static let evidence = """
        INSERT INTO \(evidenceTarget)
        SELECT $1, e.byte_count, timestamptz 'epoch' + e.received_ms * interval '1 millisecond',
            e.digest, e.kind, e.source, e.verification, e.root_digest, e.header_digest, e.body
        FROM unnest($2::int[], $3::bigint[], $4::bytea[], $5::text[], $6::text[], $7::text[],
            $8::bytea[], $9::bytea[], $10::bytea[]) AS e (byte_count, received_ms, digest, kind,
            source, verification, root_digest, header_digest, body)
        """

    private static let eventTarget = """
        ledger.event (lane, recorded_at, lane_offset, as_of_ms, purchase_date_ms, expires_date_ms,
            environment, original_transaction_id, kind, bundle_id, product_id, transaction_id,
            app_account_token, notification_type, subtype, customer_id, content_digest,
            evidence_digest, content)
        """

    private static let event = """
        INSERT INTO \(eventTarget)
        SELECT $1, $2, e.* FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
            $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
            $13::text[], $14::text[], $15::text[], $16::text[], $17::bytea[], $18::bytea[],
            $19::bytea[]) AS e
        """

    private static let copyEvent = "COPY \(eventTarget) FROM STDIN (FORMAT BINARY)"

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
