internal import Events
internal import Postgres

/// The rows of one commit: a few statements over arrays, and COPY for many events.
struct AppendInsert {
    /// Events from which COPY is worth its additional round trips.
    static let copyEventsMin = 200

    /// Rows up to which a list of values is faster than arrays, because unnesting these costs a
    /// tenth of a millisecond even for one row.
    static let valuesRowsMax = 8

    /// The shared parts that are stored, in addition to the rows, once the statements have
    /// committed.
    private(set) var shared = SharedParts()

    let plan: AppendPlan
    private(set) var statements: [PostgresStatement] = []

    init(_ plan: AppendPlan, stored: SharedParts, ledgerId: [UInt8]) {
        self.plan = plan
        let lane = PostgresValue.int4(Int32(plan.commit.lane))
        // First, so a writer that lost the race, or whose predecessor is missing, finds out before
        // any other row collides.
        appendCommit(plan, lane: lane, ledgerId)
        appendRoots(of: plan.evidence, lane: lane, stored: stored.roots)
        appendSegments(of: plan.evidence, lane: lane, stored: stored.segments)
        if !plan.evidence.isEmpty { appendEvidence(plan.evidence, plan.commit, lane: lane) }
        if !plan.confirmations.isEmpty {
            appendConfirmations(plan.confirmations, plan.commit, lane: lane)
        }
        appendCatalogs(plan, lane: lane)
    }

    /// Whether a refused append collided with the commit of another writer, or did not find the
    /// commit that it was based on: the first statement detects both, the second another ledger.
    ///
    /// The failed statement decides, because partitions and shards give the constraints names of
    /// their own. Any other violation is a bug and stays an error.
    static func isLostRace(_ error: PostgresError) -> Bool {
        error.sqlState == orphanState
            || (["23505", "23502"].contains(error.sqlState) && error.statementIndex == 0)
    }

    /// Whether an append was refused because the number of its version of the catalog is taken.
    ///
    /// A coordinator of Citus does not name the table of another server, but the message does.
    static func isCatalogTaken(_ error: PostgresError) -> Bool {
        error.sqlState == "23505"
            && (error.tableName ?? error.primaryMessage ?? "").contains("catalog")
    }

    /// Whether an append was refused because the lane has something else under the key of a segment
    /// or of a root certificate.
    static func isSharedPartTaken(_ error: PostgresError) -> Bool {
        let place = error.tableName ?? error.primaryMessage ?? ""
        return error.sqlState == "23505"
            && (place.contains("evidence_segment") || place.contains("root_certificate"))
    }

    /// Whether an append was refused because a key of ours has a row already, which no commit
    /// accounts for.
    ///
    /// PostgreSQL names the keys of partitions by their columns.
    static func isPlaceTaken(_ error: PostgresError) -> Bool {
        guard error.sqlState == "23505", let key = error.constraintName else { return false }
        return key.hasSuffix("_pkey") || key.contains("fact_unique") || key.contains("fact_key")
    }

    /// The refusal of what `isPlaceTaken` found, and how to go on.
    static func placeTaken(_ error: PostgresError, doing: String) -> EventLogError {
        EventLogError(
            .malformedLog,
            "\(doing): \(error.tableName ?? "the ledger") has a row that no commit accounts for, in "
                + "the place or under the key of a new one; nothing was changed in this lane. "
                + "`subledger verify` names it, and `subledger repair` removes it"
        )
    }

    /// The SQLSTATE of `ledger.refuse_orphan`.
    private static let orphanState = "LG002"

    private mutating func appendCommit(
        _ plan: AppendPlan,
        lane: PostgresValue,
        _ ledgerId: [UInt8]
    ) {
        let commit = plan.commit
        let isFirst = commit.number == 1
        statements.append(
            PostgresStatement(
                AppendInsert.commit(isFirst: isFirst),
                [
                    lane, .int4(Int32(commit.count)), .int8(commit.number),
                    .int8(commit.firstOffset), .int8(commit.firstEvidence),
                    .timestamptz(microseconds: commit.committedAt.microseconds),
                    .int4(Int32(commit.evidence)), .int4(Int32(commit.confirmations)),
                    .int4(Int32(commit.format)), .bytea(plan.digest.bytes),
                ] + (isFirst ? [] : [.bytea(plan.previous.bytes)])
            )
        )
        guard isFirst else { return }
        statements.append(
            PostgresStatement(AppendInsert.refuseOtherLedger, [lane, .uuid(ledgerId)])
        )
    }

    /// All but the events that COPY writes.
    var allStatements: [PostgresStatement] {
        plan.events.isEmpty ? statements : statements + [eventStatement(plan.events, plan.commit)]
    }

    private mutating func appendRoots(
        of evidence: [Submission],
        lane: PostgresValue,
        stored: Set<Digest>
    ) {
        shared.roots = Set(evidence.compactMap(\.evidence.verification.root)).subtracting(stored)
        guard !shared.roots.isEmpty else { return }
        let roots = Array(shared.roots)
        statements.append(
            PostgresStatement(
                AppendInsert.root,
                [
                    lane, .int4Array(roots.map(StoredRow.rootKey)),
                    .byteaArray(roots.map(\.bytes)),
                ]
            )
        )
    }

    private mutating func appendSegments(
        of evidence: [Submission],
        lane: PostgresValue,
        stored: Set<SegmentKey>
    ) {
        var (keys, bodies): ([SegmentKey], [[UInt8]]) = ([], [])
        for segment in evidence.flatMap({ $0.packed?.segments ?? [] })
        where !stored.contains(segment.key) && shared.segments.insert(segment.key).inserted {
            keys.append(segment.key)
            bodies.append(segment.body)
        }
        guard !keys.isEmpty else { return }
        statements.append(
            PostgresStatement(
                AppendInsert.segment,
                [lane, .byteaArray(keys.map(\.bytes)), .byteaArray(bodies)]
            )
        )
    }

    private mutating func appendEvidence(
        _ submissions: [Submission],
        _ commit: Commit,
        lane: PostgresValue
    ) {
        if submissions.count <= AppendInsert.valuesRowsMax {
            let rows = submissions.enumerated().map { index, submission in
                StoredRow.evidence(
                    submission.evidence,
                    submission.packed,
                    number: commit.firstEvidence + Int64(index),
                    commit: commit
                )
            }
            statements.append(AppendInsert.insert(rows, StoredRow.evidenceTarget))
            return
        }

        let evidence = submissions.map(\.evidence)
        statements.append(
            PostgresStatement(
                AppendInsert.evidence,
                [
                    lane, .int8(commit.number),
                    .int4Array(evidence.map { Int32($0.payload.count) }),
                    .int4Array(evidence.map { $0.verification.root.map(StoredRow.rootKey) }),
                    .boolArray(evidence.map { $0.arrival == .imported }),
                    .int8Array(evidence.indices.map { commit.firstEvidence + Int64($0) }),
                    .int8Array(evidence.map(\.receivedAt.milliseconds)),
                    .byteaArray(evidence.map(\.digest.bytes)),
                    .textArray(evidence.map(\.kind.rawValue)),
                    .textArray(evidence.map(\.source)),
                    .textArray(evidence.map(\.verification.trust.rawValue)),
                    .textArray(evidence.map(\.context?.canonicalText)),
                    .byteaArray(submissions.map(\.packed?.body)),
                ]
            )
        )
    }

    private mutating func appendCatalogs(_ plan: AppendPlan, lane: PostgresValue) {
        for case let version? in plan.evidence.map(\.catalog) {
            statements.append(
                PostgresStatement(
                    AppendInsert.catalog,
                    [
                        lane, .int4(Int32(clamping: version.version)),
                        .int8(version.effectiveFrom.milliseconds),
                        .timestamptz(microseconds: plan.commit.committedAt.microseconds),
                        .text(version.source), .bytea(version.digest.bytes),
                        .text(String(decoding: version.body, as: UTF8.self)),
                    ]
                )
            )
        }
    }

    private func eventStatement(
        _ new: [AppendPlan.NewEvent],
        _ commit: Commit
    ) -> PostgresStatement {
        if new.count <= AppendInsert.valuesRowsMax {
            return AppendInsert.insert(new.map(AppendInsert.row), StoredRow.eventTarget)
        }

        let facts = new.map(\.event.fact)
        let contents = facts.map(\.content)
        return PostgresStatement(
            AppendInsert.event,
            [
                .int4(Int32(commit.lane)),
                .timestamptz(microseconds: commit.committedAt.microseconds),
                .boolArray(new.map(\.event.isImported)),
                .boolArray(new.map(\.isLate)),
                .int8Array(new.map(\.event.position.offset)),
                .int8Array(facts.map(\.asOf.milliseconds)),
                .int8Array(facts.map(\.purchaseDate.milliseconds)),
                .int8Array(facts.map(\.expiresDate.milliseconds)),
                .int8Array(new.map(\.event.evidence)),
                .uuidArray(new.map(\.key)),
                .textArray(facts.map(\.stream.environment.word)),
                .textArray(facts.map(\.stream.originalTransactionId)),
                .textArray(facts.map(\.kind.rawValue)),
                .textArray(facts.map(\.bundleId)),
            ]
                + StoredRow.typedFields.map { field in
                    .textArray(facts.map { StoredRow.typed(field, of: $0) })
                } + [
                    .byteaArray(new.map(\.salt.bytes)),
                    .byteaArray(contents.map(\.canonicalBytes)),
                ]
        )
    }

    private mutating func appendConfirmations(
        _ new: [AppendPlan.NewConfirmation],
        _ commit: Commit,
        lane: PostgresValue
    ) {
        let (plain, renamed) = (
            new.filter { $0.row.transactionIds.isEmpty },
            new.filter { !$0.row.transactionIds.isEmpty }
        )
        let committed = PostgresValue.timestamptz(microseconds: commit.committedAt.microseconds)
        if !plain.isEmpty {
            statements.append(
                PostgresStatement(
                    AppendInsert.confirmation,
                    [
                        lane, .int8(commit.number), .int8(commit.firstOffset), committed,
                        .int8Array(plain.map(\.row.asOf.milliseconds)),
                        .int8Array(plain.map(\.row.evidence)),
                        .textArray(plain.map(\.row.stream.environment.word)),
                        .textArray(plain.map(\.row.stream.originalTransactionId)),
                        .byteaArray(plain.map(\.salt.bytes)),
                        .byteaArray(plain.map(\.row.repetitions)),
                    ]
                )
            )
        }

        // unnest flattens nested arrays, so aliases use lists of values; there are few of them.
        for start in stride(from: 0, to: renamed.count, by: AppendInsert.valuesRowsMax) {
            let rows = renamed[start..<min(start + AppendInsert.valuesRowsMax, renamed.count)].map {
                [
                    lane, .int8(commit.number), .int8(commit.firstOffset), committed,
                    .int8($0.row.asOf.milliseconds), .int8($0.row.evidence),
                    .text($0.row.stream.environment.word),
                    .text($0.row.stream.originalTransactionId), .bytea($0.salt.bytes),
                    .bytea($0.row.repetitions), .textArray($0.row.transactionIds),
                ]
            }
            statements.append(
                AppendInsert.insert(rows, AppendInsert.confirmationTarget + ", transaction_ids)")
            )
        }
    }
}

// The statements.
extension AppendInsert {
    static func row(of new: AppendPlan.NewEvent) -> [PostgresValue] {
        StoredRow.event(new.event, key: new.key, salt: new.salt, isLate: new.isLate)
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

    // A certificate whose key another one has is refused, not skipped.
    private static let root = """
        INSERT INTO ledger.root_certificate (lane, root_key, digest)
        SELECT $1, r.key, r.digest FROM unnest($2::int[], $3::bytea[]) AS r (key, digest)
        WHERE NOT EXISTS (SELECT 1 FROM ledger.root_certificate k
            WHERE k.lane = $1 AND k.root_key = r.key AND k.digest = r.digest)
        """

    // Other bytes under the same key are refused, not skipped: they may be the same text packed by
    // another version, or a text that our payloads could never be put together with.
    private static let segment = """
        INSERT INTO ledger.evidence_segment (lane, segment_key, body)
        SELECT $1, s.key, s.body FROM unnest($2::bytea[], $3::bytea[]) AS s (key, body)
        WHERE NOT EXISTS (SELECT 1 FROM ledger.evidence_segment k
            WHERE k.lane = $1 AND k.segment_key = s.key AND k.body = s.body)
        """

    private static let evidence = """
        INSERT INTO \(StoredRow.evidenceTarget)
        SELECT $1, $2, e.byte_count, e.root_key, e.is_imported, e.evidence_no,
            timestamptz 'epoch' + e.received_ms * interval '1 millisecond', e.digest, e.kind,
            e.source, e.verification, e.context, e.body
        FROM unnest($3::int[], $4::int[], $5::boolean[], $6::bigint[], $7::bigint[], $8::bytea[],
            $9::text[], $10::text[], $11::text[], $12::text[], $13::bytea[]) AS e (byte_count,
            root_key, is_imported, evidence_no, received_ms, digest, kind, source, verification,
            context, body)
        """

    private static let event = """
        INSERT INTO \(StoredRow.eventTarget)
        SELECT $1, $2, e.* FROM unnest($3::boolean[], $4::boolean[], $5::bigint[], $6::bigint[],
            $7::bigint[], $8::bigint[], $9::bigint[], $10::uuid[], $11::text[], $12::text[],
            $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
            $19::text[], $20::text[], $21::bytea[], $22::bytea[]) AS e
        """

    static let copyEvent = "COPY \(StoredRow.eventTarget) FROM STDIN (FORMAT BINARY)"

    private static let confirmationTarget = """
        ledger.confirmation (lane, commit_no, known_from_offset, recorded_at, as_of_ms, evidence_no,
            environment, original_transaction_id, salt, repetitions
        """

    private static let confirmation = """
        INSERT INTO \(confirmationTarget))
        SELECT $1, $2, $3, $4, c.* FROM unnest($5::bigint[], $6::bigint[], $7::text[], $8::text[],
            $9::bytea[], $10::bytea[]) AS c
        """

    private static let catalog = """
        INSERT INTO ledger.catalog (lane, version, effective_from_ms, recorded_at, source, digest,
            body)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """

    // From the lane's row, because a list of values may not contain a query on Citus.
    private static func commit(isFirst: Bool) -> String {
        """
        INSERT INTO ledger.commit (lane, count, commit_no, first_offset, first_evidence_no,
            committed_at, evidence, confirmations, format, digest)
        SELECT l.lane, \(isFirst ? "$2" : countIfNext), $3, $4, $5, $6, $7, $8, $9, $10
        FROM ledger.lane l WHERE l.lane = $1
        """
    }

    // The digest that the commit is based on must be that of the previous commit, which must not be
    // younger. NULL is refused by the column; a function that raises an error would keep Citus from sending the statement to
    // the lane's server as it is.
    private static let countIfNext = """
        CASE WHEN $11 = (SELECT k.digest FROM ledger.commit k
            WHERE k.lane = $1 AND k.commit_no = $3 - 1 AND k.committed_at <= $6) THEN $2 END
        """

    // Before the first commit there is only the ledger whose genesis it is based on. Not in the same
    // statement, which Citus would then send to every server: all have that table.
    private static let refuseOtherLedger = """
        SELECT ledger.refuse_orphan(l.lane, 1) FROM ledger.lane l
        WHERE l.lane = $1 AND NOT EXISTS (SELECT FROM ledger.ledger_config WHERE ledger_id = $2)
        """
}
