package import Events
internal import Postgres

/// The refused payloads with one reason and one standing.
package struct RejectionCount: Hashable, Sendable {
    /// The machine-readable reason.
    package let reason: String
    /// What they show of their origin.
    package let standing: Standing
    /// How many were not accepted since.
    package let open: Int64
    /// How many were accepted later.
    package let taken: Int64
    /// When the newest of them was refused, on our clock.
    package let newestAt: Instant
}

extension EventLog {
    /// Counts the stored rejections by reason and standing: most open ones first.
    ///
    /// A payload counts once for each reason, as in ``rejections(_:limit:)``.
    ///
    /// - Throws: `databaseUnavailable`.
    package func rejectionCounts() async throws(EventLogError) -> [RejectionCount] {
        let bounds = EventLog.bounds(of: RejectionFilter())
        return try await reading("count the rejections") { session in
            try await session.query(EventLog.countRejectionsByReason, bounds).map { row in
                RejectionCount(
                    reason: try row.text(0),
                    standing: Standing(rawValue: try row.text(1)) ?? .unproven,
                    open: try row.int8(2),
                    taken: try row.int8(3),
                    newestAt: Instant(microseconds: try row.timestamptz(4))
                )
            }
        }
    }

    private static let countRejectionsByReason = """
        SELECT r.reason, r.standing, count(*) FILTER (WHERE t.lane IS NULL), count(t.lane),
            max(r.received_at)
        \(matchingRejections)
        GROUP BY r.reason, r.standing ORDER BY 3 DESC, 1, 2
        """
}
