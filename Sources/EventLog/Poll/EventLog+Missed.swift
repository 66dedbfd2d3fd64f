package import Events
internal import Postgres

/// A notification that was received only by requesting it from Apple.
package struct MissedNotification: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// Its position in the log.
    package let position: Position
    /// When Apple signed it.
    package let asOf: Instant
    /// When the log recorded it.
    package let recordedAt: Instant
}

extension EventLog {
    /// Notifications that arrived through a channel at least this long after Apple signed them.
    ///
    /// - Parameters:
    ///   - source: The channel.
    ///   - milliseconds: The minimum time from signature to commit.
    ///   - knownAt: How much of the log is used.
    ///   - limit: The most notifications returned; all are counted.
    /// - Returns: The newest ones first, and how many there are in all.
    /// - Throws: `databaseUnavailable`.
    package func missedNotifications(
        by source: String,
        atLeast milliseconds: Int64,
        knownAt: KnownAt,
        limit: Int
    ) async throws(EventLogError) -> (found: [MissedNotification], count: Int) {
        let heads = try await heads(knownAt: knownAt).sorted { $0.key < $1.key }
        let values: [PostgresValue] = [
            .int4Array(heads.map { Int32($0.key) }), .int8Array(heads.map { $0.value.offset }),
            .text(source), .int8(milliseconds), .int8(Int64(limit)),
        ]
        let lanes = identity.lanes
        return try await reading("look up missed notifications") { session in
            let rows = try await session.query(
                """
                SELECT e.lane, e.lane_offset, e.environment, e.original_transaction_id,
                    e.as_of_ms, floor(extract(epoch FROM e.recorded_at) * 1000)::bigint,
                    count(*) OVER ()
                FROM unnest($1::int[], $2::bigint[]) AS head (lane, last)
                JOIN ledger.event e ON e.lane = head.lane AND e.lane_offset <= head.last
                JOIN ledger.evidence p ON p.lane = e.lane AND p.evidence_no = e.evidence_no
                WHERE e.kind = 'notification' AND p.source = $3
                    AND extract(epoch FROM e.recorded_at) * 1000 - e.as_of_ms >= $4
                ORDER BY e.as_of_ms DESC, e.lane, e.lane_offset
                LIMIT $5
                """,
                values
            )

            let found = try rows.map { row in
                MissedNotification(
                    stream: try row.stream(2),
                    position: Position(lane: lanes[Int(try row.int4(0))], offset: try row.int8(1)),
                    asOf: Instant(milliseconds: try row.int8(4)),
                    recordedAt: Instant(milliseconds: try row.int8(5))
                )
            }
            return (found, rows.isEmpty ? 0 : Int(try rows[0].int8(6)))
        }
    }
}
