internal import Events
internal import Postgres

/// The SQL texts of append, with parsers for their rows.
enum AppendSQL {
    /// The settings of the appender's connection.
    ///
    /// With a clock of its own, an owner of the log announces it (`ledger.is_other_clock`).
    /// The look-up must always probe the indexes, also on a table that was never analysed, and its
    /// plan does not depend on the parameters.
    static func prepareSession(
        as role: LedgerRole = .writer,
        hasOwnClock: Bool,
        secondsMax: Double
    ) -> String {
        """
        \(hasOwnClock ? "SET subledger.clock = 'given';" : "")
        SET ROLE \(role.rawValue); \(lasting("", "false", secondsMax));
        \(PostgresSession.Planning.generic.settings(isLocal: false).joined(separator: "; "));
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
        SET enable_bitmapscan = off; SET jit = off
        """
    }

    /// The same settings for one transaction of a connection that is also used for other work.
    static func prepareTransaction(secondsMax: Double) -> String {
        "SET LOCAL ROLE ledger_writer; \(lasting("LOCAL ", "true", secondsMax))"
    }

    // An answer must not come before the flush, whatever the database's other users prefer; a
    // setting that also waits for replicas is kept. A statement limit meant for others must not
    // split a batch; ours ends statements that a writer left running and no longer waits for.
    private static func lasting(_ local: String, _ isLocal: String, _ seconds: Double) -> String {
        """
        SELECT set_config('synchronous_commit', 'on', \(isLocal))
            WHERE current_setting('synchronous_commit') = 'off';
        SET \(local)statement_timeout = \(max(1, Int(seconds * 1000))); SET \(local)lock_timeout = 0
        """
    }

    /// Returns once the synchronous standbys, where there are any, have every commit that this
    /// session can see.
    ///
    /// A commit that was cancelled while it waited for them is visible. A batch that adds nothing
    /// to it makes no commit of its own that would wait, and must not be answered before.
    static let waitForStandbys = """
        SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
                AND NOT pg_is_in_recovery()
            THEN pg_logical_emit_message(true, 'subledger', '') END
        """

    static let lockLane = "SELECT 1 FROM ledger.lane WHERE lane = $1 FOR UPDATE"

    static let readHead = """
        SELECT commit_no, first_offset + (count - 1), committed_at, digest,
            first_evidence_no + (evidence - 1), format
        FROM ledger.commit WHERE lane = $1 ORDER BY commit_no DESC LIMIT 1
        """

    /// The last offset of lane `$1` that a commit accounts for; NULL without commits.
    static let lastOffset = """
        (SELECT first_offset + (count - 1) FROM ledger.commit
            WHERE lane = $1 ORDER BY commit_no DESC LIMIT 1)
        """

    static func head(
        in rows: PostgresRows,
        lane: Int,
        genesis: Digest
    ) throws -> LaneHead {
        guard rows.count > 0 else {
            return LaneHead(
                lane: lane,
                offset: 0,
                evidence: 0,
                commitNumber: 0,
                committedAt: Instant(milliseconds: 0),
                digest: genesis,
                format: LedgerIdentity.format
            )
        }
        let (commit, offset, evidence) = (
            try rows[0].int8(0), try rows[0].int8(1), try rows[0].int8(4)
        )
        try EventLog.checkHead(lane: lane, commit, offset, evidence)
        return LaneHead(
            lane: lane,
            offset: offset,
            evidence: evidence,
            commitNumber: commit,
            committedAt: Instant(microseconds: try rows[0].timestamptz(2)),
            digest: Digest(bytes: try rows[0].bytea(3)) ?? .zero,
            format: Int(try rows[0].int4(5))
        )
    }
}

extension Instant {
    /// The millisecond that contains a microsecond count; the log stores whole milliseconds.
    init(microseconds: Int64) {
        self.init(milliseconds: microseconds / 1000)
    }

    /// Microseconds, as PostgreSQL counts.
    var microseconds: Int64 { milliseconds * 1000 }
}
