internal import Events
internal import Postgres

/// The texts of append, with the rows they give.
enum AppendSQL {
    /// Whether the violation of a constraint means that another writer's commit came first.
    ///
    /// Any other unique violation is a bug and stays an error. A partition's constraint is named
    /// after the partition: `event_p3_pkey`.
    static func isRace(_ constraint: String) -> Bool {
        isPrimaryKey(constraint, of: "event") || isPrimaryKey(constraint, of: "commit")
    }

    /// Whether it means that the payload is stored already.
    static func isEvidenceKey(_ constraint: String) -> Bool {
        isPrimaryKey(constraint, of: "evidence")
    }

    private static func isPrimaryKey(_ constraint: String, of table: String) -> Bool {
        guard constraint.hasPrefix(table), constraint.hasSuffix("_pkey") else { return false }
        let partition = constraint.dropFirst(table.count).dropLast("_pkey".count)
        return partition.isEmpty
            || (partition.hasPrefix("_p") && partition.dropFirst(2).allSatisfy(\.isNumber))
    }

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
