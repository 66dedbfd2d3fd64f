package import Events
internal import Postgres

/// Notifications that arrived live, by the hour in which the log recorded them, and by type.
package struct NotificationArrivals: Hashable, Sendable {
    /// The number of one type in one hour.
    package struct Count: Hashable, Sendable {
        /// The hour: whole hours since 1970, UTC.
        package let hour: Int64
        /// Apple's `notificationType`; empty if it states none.
        package let type: String
        /// How many.
        package let count: Int64

        /// A number.
        package init(hour: Int64, type: String, count: Int64) {
            self.hour = hour
            self.type = type
            self.count = count
        }
    }

    /// The numbers, hour by hour; hours without notifications are left out.
    package let counts: [Count]
    /// The instant from which on all are counted.
    package let since: Instant

    /// Numbers from an instant on.
    package init(counts: [Count], since: Instant) {
        self.counts = counts
        self.since = since
    }
}

extension EventLog {
    /// Counts the notifications that arrived live, by hour and type.
    ///
    /// - Parameters:
    ///   - instant: From which instant on, on the ledger's clock.
    ///   - eventsMax: The most events that are read, the newest ones; `since` of the answer says how
    ///     far they reach.
    /// - Returns: The numbers.
    /// - Throws: `databaseUnavailable`.
    package func notificationArrivals(
        since instant: Instant,
        eventsMax: Int64 = 50_000
    ) async throws(EventLogError) -> NotificationArrivals {
        let heads = try await heads()
        let known = try await self.heads(knownAt: .time(instant))
        let each = max(1, eventsMax / Int64(max(1, heads.count)))
        var bounds: [(lane: Int32, after: Int64, last: Int64)] = []
        for (lane, head) in heads.sorted(by: { $0.key < $1.key }) {
            let after = max(known[lane]?.offset ?? 0, head.offset - each)
            bounds.append((Int32(lane), after, head.offset))
        }
        let cut = bounds.filter { $0.after > known[Int($0.lane)]?.offset ?? 0 }
        func values(_ bounds: [(lane: Int32, after: Int64, last: Int64)]) -> [PostgresValue] {
            [
                .int4Array(bounds.map(\.lane)), .int8Array(bounds.map(\.after)),
                .int8Array(bounds.map(\.last)),
            ]
        }
        let (all, partial) = (values(bounds), values(cut))
        return try await reading("count notifications by hour") { session in
            let found = try await session.pipeline([
                PostgresStatement(EventLog.countArrivals, all),
                PostgresStatement(EventLog.startOfArrivals, partial),
            ])
            let start = try found[1].single().timestamptzIfPresent(0)
            return NotificationArrivals(
                counts: try found[0].map { row in
                    NotificationArrivals.Count(
                        hour: try row.int8(0),
                        type: try row.text(1),
                        count: try row.int8(2)
                    )
                },
                since: start.map(Instant.init(microseconds:)) ?? instant
            )
        }
    }

    private static let boundedLanes =
        "unnest($1::int[], $2::bigint[], $3::bigint[]) AS bound (lane, known, last)"

    private static let countArrivals = """
        SELECT floor(extract(epoch FROM e.recorded_at) / 3600)::bigint,
            coalesce(ledger.content_text(e.content, 48), ''), count(*)
        FROM \(boundedLanes) JOIN ledger.event e ON e.lane = bound.lane
            AND e.lane_offset > bound.known AND e.lane_offset <= bound.last
        WHERE e.kind = 'notification' AND NOT e.is_imported
        GROUP BY 1, 2 ORDER BY 1, 2
        """

    // The latest first event of the lanes that are not read whole: from then on, every lane is.
    private static let startOfArrivals = """
        SELECT max(e.recorded_at) FROM \(boundedLanes)
        JOIN ledger.event e ON e.lane = bound.lane AND e.lane_offset = bound.known + 1
        """
}
