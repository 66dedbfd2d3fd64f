internal import Events
internal import Postgres

/// Finds what the log knows about the subjects of a batch.
struct AppendLookUp {
    let statements: [PostgresStatement]
    private let lane: Int
    private let keys: [Key]

    /// What the index is probed with: a subject without its name.
    private struct Key: Hashable {
        let stream: StreamID
        let kind: Kind
        let purchaseDate: Instant
        let expiresDate: Instant

        init(_ subject: Subject) {
            stream = subject.stream
            kind = subject.kind
            purchaseDate = subject.purchaseDate
            expiresDate = subject.expiresDate
        }
    }

    /// The look-up for a batch.
    ///
    /// - Parameters:
    ///   - batch: What is to be judged.
    ///   - lane: Its lane.
    ///   - asksForEvidence: Also look for payloads that the lane holds already. A payload brings
    ///     its news once, so this is asked only after its key was refused: when a newer version of
    ///     this program reads more facts out of a payload than the one that stored it.
    init(_ batch: [Submission], lane: Int, asksForEvidence: Bool) {
        self.lane = lane
        var keys: [Key] = []
        var seen: Set<Key> = []
        for submission in batch {
            for fact in submission.facts {
                let key = Key(fact.subject)
                if seen.insert(key).inserted { keys.append(key) }
            }
        }
        self.keys = keys
        let known = PostgresStatement(
            AppendLookUp.known,
            [
                .int4(Int32(lane)),
                .textArray(keys.map(\.stream.environment.word)),
                .textArray(keys.map(\.stream.originalTransactionId)),
                .int8Array(keys.map(\.purchaseDate.milliseconds)),
                .int8Array(keys.map(\.expiresDate.milliseconds)),
                .textArray(keys.map(\.kind.rawValue)),
            ]
        )
        guard asksForEvidence else {
            statements = [known]
            return
        }
        let digests = Set(batch.map(\.evidence.digest)).map(\.bytes)
        statements = [
            known,
            PostgresStatement(
                AppendLookUp.evidence,
                [.int4(Int32(lane)), .byteaArray(digests)]
            ),
        ]
    }

    /// Decides what of the batch is news against `head`, given the answers to `statements`.
    func plan(
        _ batch: [Submission],
        found: [PostgresRows],
        head: LaneHead,
        now: Instant
    ) throws -> AppendPlan {
        var decision = AppendDecision(
            head: head,
            knowledge: try knowledge(in: found[0]),
            storedEvidence: found.count > 1 ? try storedEvidence(found[1]) : [:],
            now: now
        )
        return decision.plan(batch)
    }

    // A row is an event with one of its confirmations, or with none.
    private func knowledge(in rows: PostgresRows) throws -> [Subject: Knowledge] {
        var knowledge: [Subject: Knowledge] = [:]
        var subjects: [Int64: Subject] = [:]
        for row in rows {
            let offset = try row.int8(1)
            if subjects[offset] == nil {
                let fact = try fact(in: row, at: offset)
                subjects[offset] = fact.subject
                knowledge[fact.subject, default: Knowledge()].learn(
                    offset: offset,
                    asOf: fact.asOf,
                    content: fact.content
                )
            }
            guard let subject = subjects[offset], let asOf = try row.int8IfPresent(4) else {
                continue
            }
            knowledge[subject]?.learn(
                Confirmation(
                    position: Position(lane: lane, offset: offset),
                    asOf: Instant(milliseconds: asOf),
                    fields: FieldSet(rawValue: UInt64(bitPattern: try row.int8(5))),
                    transactionId: try row.text(6)
                )
            )
        }
        return knowledge
    }

    private func fact(in row: PostgresRow, at offset: Int64) throws -> Fact {
        guard let content = Content(canonicalBytes: try row.bytea(3)) else {
            throw EventRows.malformed(Position(lane: lane, offset: offset))
        }
        let key = keys[Int(try row.int8(0)) - 1]
        return Fact(
            stream: key.stream,
            bundleId: "",
            kind: key.kind,
            purchaseDate: key.purchaseDate,
            expiresDate: key.expiresDate,
            asOf: Instant(milliseconds: try row.int8(2)),
            content: content
        )
    }

    private func storedEvidence(_ rows: PostgresRows) throws -> [Digest: Digest] {
        var records: [Digest: Digest] = [:]
        for row in rows {
            guard let payload = Digest(bytes: try row.bytea(0)) else { continue }
            records[payload] = Evidence.recordDigest(
                payload: payload,
                receivedAt: Instant(microseconds: try row.timestamptz(1)),
                kind: try row.text(2),
                source: try row.text(3),
                verification: try row.text(4),
                root: try row.byteaIfPresent(5).flatMap(Digest.init(bytes:))
            )
        }
        return records
    }

    // Key by key, each a probe of the wide index: LATERAL and OFFSET 0 leave the planner no other
    // order. On a log that was never analysed it would walk the whole lane and look for every event
    // among the keys.
    private static let known = """
        SELECT key.ordinal, e.lane_offset, e.as_of_ms, e.content, c.as_of_ms, c.fields,
            c.transaction_id
        FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
            WITH ORDINALITY AS key (environment, id, purchase, expires, kind, ordinal)
        CROSS JOIN LATERAL (
            SELECT * FROM ledger.event
            WHERE lane = $1 AND environment = key.environment
                AND original_transaction_id = key.id AND purchase_date_ms = key.purchase
                AND expires_date_ms = key.expires AND kind = key.kind
            OFFSET 0) e
        LEFT JOIN LATERAL (
            SELECT * FROM ledger.confirmation
            WHERE lane = $1 AND environment = key.environment
                AND original_transaction_id = key.id AND lane_offset = e.lane_offset
            OFFSET 0) c ON true
        """

    private static let evidence = """
        SELECT digest, received_at, kind, source, verification, root_digest
        FROM ledger.evidence WHERE lane = $1 AND digest = ANY ($2::bytea[])
        """
}
