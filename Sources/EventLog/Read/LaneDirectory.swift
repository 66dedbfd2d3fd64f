internal import Events
internal import Postgres

/// The directory of a distributed ledger: which lanes an id may lead to.
///
/// Only an `originalTransactionId` decides its lane. Any other id may be in every lane, and asking
/// all of them asks every server. So the coordinator keeps a table of ids, `operation.lookup_key`.
/// It is not distributed itself: an append would then have to change rows on several servers, which
/// takes many times longer than the append.
///
/// An append adds its ids before its rows, in a transaction of its own. So every id of a lane is
/// there, and a few are too many, because their append failed: then the lane is asked, and answers
/// that it does not know the id. What a question returns always comes from the log.
enum LaneDirectory {
    /// Whether the ledger has a directory: true for ledgers that are distributed.
    static let exists = "SELECT EXISTS (SELECT FROM operation.lookup_lane)"

    /// The lanes that any of these keys may lead to, and those whose ids are not all known.
    static func places(of keys: [StreamKey], _ lanes: LaneCount) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT lane FROM operation.lookup_key WHERE key = ANY ($1)
            UNION
            SELECT l.lane FROM generate_series(0, $2 - 1) AS l (lane)
            WHERE NOT EXISTS (
                SELECT FROM operation.lookup_lane p WHERE p.lane = l.lane AND p.is_complete)
            """,
            [.int8Array(keys.flatMap(\.directoryKeys)), .int4(Int32(lanes.value))]
        )
    }

    /// What a text is listed under: the first eight bytes of its SHA-256.
    static func key(_ text: String) -> Int64 { key(Digest.of(Array(text.utf8))) }

    /// What a receipt is listed under.
    static func key(_ digest: Digest) -> Int64 {
        Int64(bitPattern: digest.bigEndianWords.0)
    }

    /// The fields of an event that it can be looked up by.
    static let fields: [Field] = [
        .transactionId, .webOrderLineItemId, .appTransactionId, .appAccountToken, .customerId,
        .previousOriginalTransactionId,
    ]

    /// What the rows of a commit are listed under.
    static func keys(of plan: AppendPlan) -> Set<Int64> {
        var keys: Set<Int64> = []
        for new in plan.events {
            for field in fields {
                if let text = new.event.fact.content.text(field), !text.isEmpty {
                    keys.insert(key(text))
                }
            }
        }
        for new in plan.confirmations { keys.formUnion(new.row.transactionIds.map(key)) }
        for submission in plan.evidence
        where PayloadKind.receipts.contains(submission.evidence.kind) {
            keys.insert(key(submission.evidence.digest))
        }
        return keys
    }

    /// Lists keys for a lane.
    ///
    /// Sorted, so that two appends that list the same keys do not wait for each other in a circle.
    static func listing(_ keys: Set<Int64>, lane: Int) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO operation.lookup_key (key, lane)
            SELECT key, $2 FROM unnest($1::bigint[]) AS k (key) ON CONFLICT DO NOTHING
            """,
            [.int8Array(keys.sorted()), .int4(Int32(lane))]
        )
    }

    /// Announces a commit whose keys are listed, and notices whether the one before was announced.
    static func announcement(of commit: Commit) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE operation.lookup_lane
            SET is_complete = is_complete AND commit_no >= $2 - 1,
                commit_no = greatest(commit_no, $2)
            WHERE lane = $1
            """,
            [.int4(Int32(commit.lane)), .int8(commit.number)]
        )
    }
}

// Filling it from the log, and removing what was erased.
extension LaneDirectory {
    /// Adds a row for each lane that has none; then appends list their keys.
    static func open(_ lanes: LaneCount, in session: isolated PostgresSession) throws {
        _ = try session.query(
            """
            INSERT INTO operation.lookup_lane (lane, commit_no, is_complete)
            SELECT lane, 0, false FROM generate_series(0, $1 - 1) AS l (lane)
            ON CONFLICT DO NOTHING
            """,
            [.int4(Int32(lanes.value))]
        )
    }

    /// The lanes that have to be filled, ascending.
    static func unfilled(
        _ lanes: LaneCount,
        in session: isolated PostgresSession
    ) throws -> [Int] {
        let heads = try heads(in: session)
        var complete: Set<Int> = []
        for row in try session.query(
            "SELECT lane, commit_no FROM operation.lookup_lane WHERE is_complete"
        ) {
            let lane = Int(try row.int4(0))
            if try row.int8(1) >= heads[lane, default: 0] { complete.insert(lane) }
        }
        return (0..<lanes.value).filter { !complete.contains($0) }
    }

    // The numbers of the newest commits.
    private static func heads(in session: isolated PostgresSession) throws -> [Int: Int64] {
        var heads: [Int: Int64] = [:]
        for row in try session.query(
            """
            SELECT l.lane, h.commit_no FROM ledger.lane l CROSS JOIN LATERAL (
                SELECT commit_no FROM ledger.commit c WHERE c.lane = l.lane
                ORDER BY commit_no DESC LIMIT 1) h
            """
        ) { heads[Int(try row.int4(0))] = try row.int8(1) }
        return heads
    }

    /// Lists all ids of a lane while programs append to it, in a transaction of its own.
    ///
    /// Appends list their own since the row of the lane exists. The number of the newest commit is
    /// read afterwards: a commit up to there either was read, or was listed by its append.
    static func fill(_ lane: Int, in session: isolated PostgresSession) throws {
        try session.execute(
            """
            INSERT INTO operation.lookup_key (key, lane)
            SELECT key, lane FROM (\(keys(ofLane: lane))) AS k ORDER BY key ON CONFLICT DO NOTHING
            """
        )
        _ = try session.query(
            """
            UPDATE operation.lookup_lane
            SET is_complete = true, commit_no = greatest(commit_no, $2)
            WHERE lane = $1
            """,
            [.int4(Int32(lane)), .int8(try head(of: lane, in: session))]
        )
    }

    private static func head(of lane: Int, in session: isolated PostgresSession) throws -> Int64 {
        try session.query(
            "SELECT coalesce(max(commit_no), 0) FROM ledger.commit WHERE lane = $1",
            [.int4(Int32(lane))]
        ).single().int8(0)
    }

    /// Removes what an erasure removed from a lane, unless other rows there still have it.
    ///
    /// No append can list keys for the lane meanwhile. One that has done so may not have written its
    /// rows yet, so they are waited for.
    static func forget(
        _ removed: ErasureReading.Removed,
        lane: Int,
        of lanes: LaneCount,
        in session: isolated PostgresSession
    ) throws {
        let announced = try session.query(
            "SELECT commit_no FROM operation.lookup_lane WHERE lane = $1 FOR UPDATE",
            [.int4(Int32(lane))]
        )
        guard let row = announced.first else { return }
        try waitForAppend(try row.int8(0), lane: lane, in: session)
        let asked = removed.ids.map(StreamKey.all) + removed.digests.map { [.receipt($0)] }
        var gone: Set<Int64> = []
        for keys in asked {
            let lookUps = StreamLookUp.all(for: keys, lanes, in: [lane])
            let isThere = try session.pipeline(lookUps.map(\.statement)).contains { $0.count > 0 }
            if !isThere { gone.formUnion(keys.flatMap(\.directoryKeys)) }
        }
        _ = try session.query(
            "DELETE FROM operation.lookup_key WHERE lane = $1 AND key = ANY ($2)",
            [.int4(Int32(lane)), .int8Array(gone.sorted())]
        )
    }

    // An append that was killed does not come. If it was only slow, the next one will notice that
    // it was not announced.
    private static func waitForAppend(
        _ number: Int64,
        lane: Int,
        in session: isolated PostgresSession
    ) throws {
        for _ in 0..<waitsMax {
            guard try head(of: lane, in: session) < number else { return }
            _ = try session.query("SELECT pg_sleep(0.01)")
        }
        _ = try session.query(
            "UPDATE operation.lookup_lane SET commit_no = $2 WHERE lane = $1",
            [.int4(Int32(lane)), .int8(try head(of: lane, in: session))]
        )
    }

    private static let waitsMax = 200

    private static func keys(ofLane lane: Int) -> String {
        func key(_ digest: String) -> String {
            "('x' || encode(substr(\(digest), 1, 8), 'hex'))::bit(64)::bigint"
        }
        let text = key("sha256(convert_to(t.text, 'UTF8'))")
        let kinds = PayloadKind.receipts.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return """
            SELECT e.lane, \(text) AS key
            FROM ledger.event e CROSS JOIN LATERAL (VALUES (e.transaction_id),
                (e.web_order_line_item_id), (e.app_transaction_id), (e.app_account_token),
                (e.customer_id), (CASE WHEN \(StreamLookUp.isContinuation)
                    THEN ledger.content_text(e.content, 24) END)) AS t (text)
            WHERE e.lane = \(lane) AND t.text <> ''
            UNION
            SELECT c.lane, \(text) FROM ledger.confirmation c
            CROSS JOIN LATERAL unnest(c.transaction_ids) AS t (text) WHERE c.lane = \(lane)
            UNION
            SELECT v.lane, \(key("v.digest")) FROM ledger.evidence v
            WHERE v.lane = \(lane) AND v.kind IN (\(kinds)) AND v.digest IS NOT NULL
            """
    }
}

extension PayloadKind {
    /// The kinds of payloads that join the subscriptions in them: those of one Apple account.
    static let receipts: [PayloadKind] = [
        .appReceipt, .verifyReceiptResponse, .statusUpdateNotification,
    ]
}
