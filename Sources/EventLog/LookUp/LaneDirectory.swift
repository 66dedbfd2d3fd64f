internal import Events
internal import Postgres

/// The directory of a distributed ledger: the lanes that may have an id.
///
/// Only an `originalTransactionId` decides its lane. Any other id may be in every lane, and searching
/// all of them asks every server. So the coordinator keeps a table of ids, `operation.lookup_key`.
/// It is not distributed itself: an append would then have to change rows on several servers, which
/// takes many times longer than the append.
///
/// An append announces its commit and lists its ids before it makes the commit. So every id of a
/// commit is listed; ids of failed appends are listed, too, and a look-up then finds no rows. What a
/// question returns always comes from the log.
enum LaneDirectory {
    /// Whether the ledger has a directory: true for ledgers that are distributed.
    static let exists = "SELECT EXISTS (SELECT FROM operation.lookup_lane)"

    /// The timeline of the server's WAL; empty on a standby, whose directory lags behind other
    /// servers.
    ///
    /// It changes whenever the server may have lost commits: after a failover or a restore.
    static let timeline = """
        (SELECT CASE WHEN pg_is_in_recovery() THEN ''
            ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END)
        """

    /// The lanes that may have any of these keys, and those whose ids are not all known.
    static func places(of keys: [StreamKey], _ lanes: LaneCount) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT lane FROM operation.lookup_key WHERE key = ANY ($1)
            UNION
            SELECT l.lane FROM generate_series(0, $2 - 1) AS l (lane)
            WHERE NOT EXISTS (
                SELECT FROM operation.lookup_lane p
                WHERE p.lane = l.lane AND p.is_complete AND p.timeline <> ''
                    AND p.timeline = \(timeline))
            """,
            [.int8Array(keys.flatMap(\.directoryKeys)), .int4(Int32(lanes.value))]
        )
    }

    /// The directory key of an id: the first eight bytes of its SHA-256.
    static func key(_ id: some Sequence<UInt8>) -> Int64 { key(Digest.of(Array(id))) }

    /// The directory key of a receipt.
    static func key(_ digest: Digest) -> Int64 {
        Int64(bitPattern: digest.bigEndianWords.0)
    }

    /// The fields of an event that it can be looked up by.
    static let fields: [Field] = [
        .transactionId, .webOrderLineItemId, .appTransactionId, .appAccountToken, .customerId,
        .previousOriginalTransactionId,
    ]

    /// The ids of an event, as its columns and `ledger.content_text` give them.
    static func ids(of fact: Fact, _ fields: [Field] = fields) -> [[UInt8]] {
        fields.compactMap { field in
            guard let text = fact.content.text(field), !text.isEmpty else { return nil }
            return Array(
                text.utf8.contains(0) ? text.replacing("\0", with: "\u{fffd}").utf8 : text.utf8
            )
        }
    }

    /// The directory keys of the rows of a commit.
    static func keys(of plan: AppendPlan) -> Set<Int64> {
        var keys = Set(plan.events.flatMap { ids(of: $0.event.fact).map(key) })
        for new in plan.confirmations {
            keys.formUnion(new.row.transactionIds.map { key($0.utf8) })
        }
        for submission in plan.evidence
        where PayloadKind.receipts.contains(submission.evidence.kind) {
            keys.insert(key(submission.evidence.digest))
        }
        return keys
    }
}

// Appending.
extension LaneDirectory {
    /// The commit was decided against a head that is not the newest one.
    struct StaleHead: Error {
        let lane: Int

        /// Starts again if the log went back: if a server was restored to an earlier moment.
        ///
        /// Outside of the transaction that noticed it.
        func resetIfAhead(in session: isolated PostgresSession) throws {
            let row = try session.query(
                "SELECT commit_no FROM operation.lookup_lane WHERE lane = $1",
                [.int4(Int32(lane))]
            ).first
            guard let number = try row?.int8(0),
                try LaneDirectory.head(of: lane, in: session).number < number
            else { return }
            _ = try session.query(
                """
                UPDATE operation.lookup_lane
                SET is_complete = false, commit_no = 0, digest = '', announced = '{}'
                WHERE lane = $1 AND commit_no = $2
                """,
                [.int4(Int32(lane)), .int8(number)]
            )
        }
    }

    /// The server's clock, and whether a lane has a directory: read for each append, because a filled
    /// ledger may have been distributed meanwhile.
    static let clock = """
        SELECT clock_timestamp(), EXISTS (SELECT FROM operation.lookup_lane WHERE lane = $1)
        """

    /// Announces a commit and lists the keys of its rows, for a ledger with a directory.
    ///
    /// The row of the lane is locked first, so that no erasure removes a key that is listed here
    /// before its rows are there. A transaction that also changes rows on another server commits
    /// there first, so the keys must be listed in a transaction of their own.
    ///
    /// - Throws: `StaleHead` if a later commit was announced.
    static func announce(_ plan: AppendPlan, in session: isolated PostgresSession) throws {
        guard let keys = plan.directoryKeys else { return }
        let lane = PostgresValue.int4(Int32(plan.commit.lane))
        let isAnnounced = try session.query(
            """
            WITH announced AS (\(announcement) RETURNING lane), listed AS (
                INSERT INTO operation.lookup_key (key, lane)
                SELECT k.key, a.lane FROM announced a CROSS JOIN unnest($5::bigint[]) AS k (key)
                ON CONFLICT DO NOTHING)
            SELECT EXISTS (SELECT FROM announced)
            """,
            [
                lane, .int8(plan.commit.number - 1), .bytea(plan.previous.bytes),
                .bytea(plan.digest.bytes), .int8Array(Array(keys)),
            ]
        ).single().bool(0)
        guard isAnnounced else { throw StaleHead(lane: plan.commit.lane) }
    }

    // If the commit before was not announced, its ids may be missing. Failed appends leave
    // announcements, of which the last hundred are kept; if the commit is an older one, the lane is
    // filled in vain.
    private static let announcement = """
        UPDATE operation.lookup_lane
        SET is_complete = is_complete AND (digest = $3 OR $3 = ANY (announced)),
            announced = CASE WHEN digest = $3
                THEN announced[greatest(1, cardinality(announced) - 98):] || $4
                ELSE ARRAY[$4] END,
            commit_no = $2, digest = $3
        WHERE lane = $1 AND commit_no <= $2
        """

    /// The newest commit of a lane; number 0 and no digest if there is none.
    static func head(
        of lane: Int,
        in session: isolated PostgresSession
    ) throws -> (number: Int64, digest: [UInt8]?) {
        let row = try session.query(
            """
            SELECT commit_no, digest FROM ledger.commit WHERE lane = $1
            ORDER BY commit_no DESC LIMIT 1
            """,
            [.int4(Int32(lane))]
        ).first
        return try row.map { (try $0.int8(0), try $0.bytea(1)) } ?? (0, nil)
    }
}

extension PayloadKind {
    /// The kinds of payloads that join the subscriptions in them: those of one Apple account.
    static let receipts: [PayloadKind] = [
        .appReceipt, .verifyReceiptResponse, .statusUpdateNotification,
    ]
}
