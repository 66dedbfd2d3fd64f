internal import Events
internal import Postgres

extension EventLog {
    /// Removes what was inserted past the programs and keeps them from appending to, reading or
    /// verifying the log; each removed row is recorded in `ledger.repair`.
    ///
    /// These are: newest commits that do not continue their lane, or have a format that this schema
    /// does not have; rows that no commit accounts for; segments whose text is not the one that
    /// their key names; root certificates that no payload uses. A commit that later commits were
    /// built upon is never removed.
    ///
    /// - Parameters:
    ///   - reason: Why, for example a ticket; not empty.
    ///   - statedBy: Who repairs; not empty.
    ///   - isDryRun: Whether nothing is changed.
    /// - Returns: The removed rows; empty if there was nothing to remove.
    /// - Throws: `permissionDenied` unless the login is a member of `ledger_owner`;
    ///   `notDistributable` on a ledger on several servers; `databaseUnavailable`.
    package func repair(
        reason: String,
        by statedBy: String,
        isDryRun: Bool = false
    ) async throws(EventLogError) -> [RepairedRow] {
        precondition(!reason.isEmpty && !statedBy.isEmpty, "a repair has a reason and an author")
        let repair = LogRepair(
            identity: identity,
            dictionaries: dictionaries,
            reason: reason,
            statedBy: statedBy
        )

        do {
            return try await PostgresSession.using(settings, by: limits.deadline()) { session in
                try await session.atomically { session -> [RepairedRow] in
                    let removed = try repair.run(in: session)
                    if isDryRun { throw DryRun(rows: removed) }
                    return removed
                }
            }
        } catch let dry as DryRun {
            return dry.rows
        } catch {
            throw EventLog.error(error, doing: "repair")
        }
    }

    /// Rolls a dry run back.
    private struct DryRun: Error { let rows: [RepairedRow] }
}

/// One transaction that repairs a log.
private struct LogRepair: Sendable {
    let identity: LedgerIdentity
    let dictionaries: EvidenceDictionaries
    let reason: String
    let statedBy: String

    /// Newest commits that are looked at in a lane; a writer adds no more than a few before the
    /// first append fails.
    private static let commitsMax = 1000

    // In the order in which an append locks them.
    private static let tables = [
        "commit", "root_certificate", "evidence_segment", "evidence", "confirmation", "catalog",
        "event",
    ]

    func run(in session: isolated PostgresSession) throws -> [RepairedRow] {
        try session.execute(
            "SET LOCAL ROLE ledger_owner; SET LOCAL search_path = pg_catalog, pg_temp; "
                + "SET LOCAL lock_timeout = '10s'"
        )
        guard try !Distribution.isInUse(in: session) else {
            throw EventLogError(
                .notDistributable,
                "repair: this ledger is distributed over several servers, on which repair does not "
                    + "work; nothing was changed. Remove the rows that `subledger verify` names on "
                    + "the server of their lane, as a superuser"
            )
        }

        for table in LogRepair.tables {
            try session.execute("LOCK TABLE ledger.\(table) IN SHARE ROW EXCLUSIVE MODE")
        }
        for table in LogRepair.tables {
            try session.execute(
                "ALTER TABLE ledger.\(table) DISABLE TRIGGER append_only_statement"
            )
        }

        var removed: [RepairedRow] = []
        for lane in 0..<identity.lanes.value { removed += try repair(lane, in: session) }

        for table in LogRepair.tables {
            try session.execute(
                "ALTER TABLE ledger.\(table) ENABLE ALWAYS TRIGGER append_only_statement"
            )
        }
        return removed
    }

    private func repair(
        _ lane: Int,
        in session: isolated PostgresSession
    ) throws -> [RepairedRow] {
        let head = try head(of: lane, in: session)
        let number = PostgresValue.int8(head.number)
        var removed = try remove(
            "commit",
            "commit_no::text",
            where: "t.commit_no > $5 OR t.commit_no < 1",
            [number],
            "it does not continue the lane",
            lane,
            in: session
        )
        let none = "no commit accounts for it"
        for (table, column, value) in [
            ("event", "lane_offset", PostgresValue.int8(head.offset)),
            ("confirmation", "commit_no", number),
            ("evidence", "evidence_no", .int8(head.evidence)),
        ] {
            removed += try remove(
                table,
                "\(column)::text",
                where: "t.\(column) > $5 OR t.\(column) < 1",
                [value],
                none,
                lane,
                in: session
            )
        }
        removed += try remove(
            "catalog",
            "version::text",
            where: LogRepair.isForeignVersion,
            [],
            none,
            lane,
            in: session
        )
        removed += try remove(
            "root_certificate",
            "encode(digest, 'hex')",
            where: LogRepair.isUnusedRoot,
            [],
            "no payload uses it",
            lane,
            in: session
        )
        removed += try remove(
            "evidence_segment",
            "encode(segment_key, 'hex')",
            where: "t.segment_key = ANY ($5)",
            [.byteaArray(try foreignSegments(in: lane, session))],
            "its text is not the one that its key names",
            lane,
            in: session
        )
        return removed
    }

    // The newest commit that continues its lane; all zeros before the first.
    private func head(
        of lane: Int,
        in session: isolated PostgresSession
    ) throws -> (number: Int64, offset: Int64, evidence: Int64) {
        let rows = try session.query(
            LogRepair.newest,
            [.int4(Int32(lane)), .int4(Int32(LedgerIdentity.format))]
        )
        for row in rows where try row.bool(3) {
            return (try row.int8(0), try row.int8(1), try row.int8(2))
        }
        guard rows.count < LogRepair.commitsMax else {
            throw EventLogError(
                .malformedLog,
                "repair: none of the newest \(LogRepair.commitsMax) commits of lane \(lane) continues "
                    + "it; nothing was changed. Restore a backup, or look at `subledger verify`"
            )
        }
        return (0, 0, 0)
    }

    private func foreignSegments(
        in lane: Int,
        _ session: isolated PostgresSession
    ) throws -> [[UInt8]] {
        let rows = try session.query(
            "SELECT segment_key, body FROM ledger.evidence_segment WHERE lane = $1",
            [.int4(Int32(lane))]
        )
        var foreign: [[UInt8]] = []
        for row in rows {
            guard let key = SegmentKey(bytes: try row.bytea(0)) else { continue }
            if !dictionaries.isSegment(key, packed: try row.bytea(1)) { foreign.append(key.bytes) }
        }
        return foreign
    }

    // The conditions and keys are ours.
    private func remove(
        _ table: String,
        _ key: String,
        where condition: String,
        _ parameters: [PostgresValue],
        _ cause: String,
        _ lane: Int,
        in session: isolated PostgresSession
    ) throws -> [RepairedRow] {
        let rows = try session.query(
            """
            WITH gone AS (
                DELETE FROM ledger.\(table) t WHERE t.lane = $1 AND (\(condition)) RETURNING *
            ), kept AS (
                INSERT INTO ledger.repair (lane, repaired_at, repair_id, relation, stated_by, reason,
                    removed)
                SELECT g.lane, date_trunc('milliseconds', statement_timestamp()), gen_random_uuid(),
                    $2, $3, $4, to_jsonb(g) FROM gone g
            )
            SELECT \(key) FROM gone g ORDER BY 1
            """,
            [
                .int4(Int32(lane)), .text(table), .text(statedBy), .text("\(reason): \(cause)"),
            ] + parameters
        )
        return try rows.map {
            RepairedRow(lane: lane, table: table, key: try $0.text(0), reason: cause)
        }
    }

    // As numeric: a forged number may be near the end of its range.
    private static let newest = """
        SELECT c.commit_no, least(c.first_offset::numeric + c.count - 1, 9e18)::bigint,
            least(c.first_evidence_no::numeric + c.evidence - 1, 9e18)::bigint,
            c.format = $2 AND c.commit_no >= 1 AND coalesce(
                c.first_offset = p.first_offset::numeric + p.count
                    AND c.first_evidence_no = p.first_evidence_no::numeric + p.evidence
                    AND c.committed_at >= p.committed_at,
                c.commit_no = 1 AND c.first_offset = 1 AND c.first_evidence_no = 1)
        FROM (SELECT * FROM ledger.commit WHERE lane = $1 ORDER BY commit_no DESC
            LIMIT \(commitsMax)) c
        LEFT JOIN ledger.commit p ON p.lane = c.lane AND p.commit_no = c.commit_no - 1
        ORDER BY c.commit_no DESC
        """

    private static let isForeignVersion = """
        NOT EXISTS (SELECT FROM ledger.event e
            WHERE e.lane = t.lane AND e.environment = '' AND e.original_transaction_id = 'catalog'
                AND e.kind = 'catalog'
                AND ledger.content_fields(e.content) ->> 'catalogVersion' = t.version::text)
        """

    private static let isUnusedRoot = """
        NOT EXISTS (SELECT FROM ledger.evidence v
            WHERE v.lane = t.lane AND v.root_key = t.root_key)
        """
}
