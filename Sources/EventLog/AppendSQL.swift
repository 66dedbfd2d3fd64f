internal import Events
internal import Postgres

/// The texts of append, with the rows they give.
enum AppendSQL {
    /// What the appender's connection is set to.
    ///
    /// An answer must not come before the flush, whatever the database's other users want; a value
    /// that waits for replicas too stays. The look-up must always probe the indexes, also on a
    /// table that was never analysed; and its plan does not depend on the parameters.
    static let prepareSession = """
        SET ROLE ledger_writer;
        SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') = 'off';
        SET plan_cache_mode = force_generic_plan;
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
        SET enable_bitmapscan = off; SET jit = off
        """

    /// What the connection of an erasure is set to.
    static let prepareEraser = prepareSession.replacing("ledger_writer", with: "ledger_eraser")

    static let lockLane = "SELECT FROM ledger.lane WHERE lane = $1 FOR UPDATE"

    static let readHead = """
        SELECT commit_no, first_offset + (count - 1), committed_at, digest,
            first_evidence_no + (evidence - 1), format
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
                evidence: 0,
                commitNumber: 0,
                committedAt: Instant(milliseconds: 0),
                digest: genesis,
                format: LedgerIdentity.format
            )
        }
        return LaneHead(
            lane: lane,
            offset: try rows[0].int8(1),
            evidence: try rows[0].int8(4),
            commitNumber: try rows[0].int8(0),
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

    /// As PostgreSQL counts.
    var microseconds: Int64 { milliseconds * 1000 }
}
