internal import Events
internal import Postgres

/// The texts of append, with the rows they give.
enum AppendSQL {
    /// The look-up must always probe the indexes, also on a table that was never analysed; and its
    /// plan does not depend on the parameters.
    static let prepareSession = """
        SET ROLE ledger_writer;
        SET plan_cache_mode = force_generic_plan;
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
        SET enable_bitmapscan = off; SET jit = off
        """

    static let lockLane = "SELECT FROM ledger.lane WHERE lane = $1 FOR UPDATE"

    static let readHead = """
        SELECT commit_no, first_offset + count - 1, committed_at, digest
        FROM ledger.commit WHERE lane = $1 ORDER BY commit_no DESC LIMIT 1
        """

    static func head(
        in rows: PostgresRows,
        lane: Int,
        genesis: Digest
    ) throws(PostgresError) -> LaneHead {
        guard rows.count > 0 else {
            return LaneHead(
                lane: lane,
                offset: 0,
                commitNumber: 0,
                committedAt: Instant(milliseconds: 0),
                digest: genesis
            )
        }
        return LaneHead(
            lane: lane,
            offset: try rows[0].int8(1),
            commitNumber: try rows[0].int8(0),
            committedAt: Instant(microseconds: try rows[0].timestamptz(2)),
            digest: Digest(bytes: try rows[0].bytea(3)) ?? .zero
        )
    }
}

extension Instant {
    /// The millisecond that contains a microsecond count; the log stores whole milliseconds.
    init(microseconds: Int64) {
        self.init(milliseconds: microseconds / 1000)
    }

    /// As PostgreSQL counts.
    var microseconds: Int64 { milliseconds * 1000 }
}

/// Finds what the log knows about the subjects of a batch.
struct AppendLookUp {
    let statements: [PostgresStatement]
    private let lane: Int

    init(_ batch: [Submission], lane: Int) {
        self.lane = lane
        var keys: [Key] = []
        var seen: Set<Key> = []
        for fact in batch.flatMap(\.facts) {
            let key = Key(fact.subject)
            if seen.insert(key).inserted { keys.append(key) }
        }
        let parameters: [PostgresValue] = [
            .int4(Int32(lane)),
            .textArray(keys.map(\.stream.environment.word)),
            .textArray(keys.map(\.stream.originalTransactionId)),
            .int8Array(keys.map(\.purchaseDate.milliseconds)),
            .int8Array(keys.map(\.expiresDate.milliseconds)),
            .textArray(keys.map(\.kind.rawValue)),
        ]
        let digests = Set(batch.map(\.evidence.digest)).map(\.bytes)
        statements = [
            PostgresStatement(AppendLookUp.events, parameters),
            PostgresStatement(AppendLookUp.confirmations, parameters),
            PostgresStatement(
                AppendLookUp.evidence,
                [.int4(Int32(lane)), .byteaArray(digests)]
            ),
        ]
        self.keys = keys
    }

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

    /// Decides what of the batch is news against `head`, given the answers to `statements`.
    func plan(
        _ batch: [Submission],
        found: [PostgresRows],
        head: LaneHead,
        now: Instant
    ) throws -> AppendPlan {
        var decision = AppendDecision(
            head: head,
            knowledge: try knowledge(events: found[0], confirmations: found[1]),
            storedEvidence: try storedEvidence(found[2]),
            now: now
        )
        return decision.plan(batch)
    }

    private func knowledge(
        events: PostgresRows,
        confirmations: PostgresRows
    ) throws -> [Subject: Knowledge] {
        var knowledge: [Subject: Knowledge] = [:]
        var subjects: [Int64: Subject] = [:]
        for row in 0..<events.count {
            let key = keys[Int(try events[row].int8(0)) - 1]
            let offset = try events[row].int8(1)
            guard let content = Content(canonicalBytes: try events[row].bytea(3)) else {
                throw EventLogError(
                    .malformedLog,
                    "the content of event \(lane):\(offset) is not in canonical form; run verify"
                )
            }
            let fact = Fact(
                stream: key.stream,
                bundleId: "",
                kind: key.kind,
                purchaseDate: key.purchaseDate,
                expiresDate: key.expiresDate,
                asOf: Instant(milliseconds: try events[row].int8(2)),
                content: content
            )
            subjects[offset] = fact.subject
            knowledge[fact.subject, default: Knowledge()].learn(
                offset: offset,
                asOf: fact.asOf,
                content: content
            )
        }
        for row in 0..<confirmations.count {
            let offset = try confirmations[row].int8(0)
            guard let subject = subjects[offset] else { continue }
            knowledge[subject]?.learn(
                Confirmation(
                    position: Position(lane: lane, offset: offset),
                    asOf: Instant(milliseconds: try confirmations[row].int8(1)),
                    fields: FieldSet(
                        rawValue: UInt64(bitPattern: try confirmations[row].int8(2))
                    ),
                    transactionId: try confirmations[row].text(3)
                )
            )
        }
        return knowledge
    }

    private func storedEvidence(_ rows: PostgresRows) throws -> [Digest: Digest] {
        var records: [Digest: Digest] = [:]
        for row in 0..<rows.count {
            guard let payload = Digest(bytes: try rows[row].bytea(0)),
                let root = Digest(bytes: try rows[row].bytea(5))
            else { continue }
            records[payload] = Evidence.recordDigest(
                payload: payload,
                receivedAt: Instant(microseconds: try rows[row].timestamptz(1)),
                kind: try rows[row].text(2),
                source: try rows[row].text(3),
                verification: try rows[row].text(4),
                root: root
            )
        }
        return records
    }

    private static let keysOfBatch = """
        unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
            WITH ORDINALITY AS key (environment, id, purchase, expires, kind, ordinal)
        JOIN ledger.event e ON e.lane = $1 AND e.environment = key.environment
            AND e.original_transaction_id = key.id AND e.purchase_date_ms = key.purchase
            AND e.expires_date_ms = key.expires AND e.kind = key.kind
        """

    private static let events = """
        SELECT key.ordinal, e.lane_offset, e.as_of_ms, e.content FROM \(keysOfBatch)
        """

    private static let confirmations = """
        SELECT c.lane_offset, c.as_of_ms, c.fields, c.transaction_id FROM \(keysOfBatch)
        JOIN ledger.confirmation c ON c.lane = $1 AND c.environment = key.environment
            AND c.original_transaction_id = key.id AND c.lane_offset = e.lane_offset
        """

    private static let evidence = """
        SELECT digest, received_at, kind, source, verification, root_digest
        FROM ledger.evidence WHERE lane = $1 AND digest = ANY ($2::bytea[])
        """
}
