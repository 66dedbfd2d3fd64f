package import Events
internal import Postgres

extension EventLog {
    /// A subscription found by an id, with what an import of links needs to know.
    package struct NamedStream: Hashable, Sendable {
        /// The subscription.
        package let stream: StreamID
        /// Whether any of its events comes from Apple, rather than from a link alone.
        package let isKnownByApple: Bool
        /// Whether any link names it.
        package let isLinked: Bool
    }

    /// The subscriptions with these original transaction ids, in one round trip.
    ///
    /// - Parameter ids: The ids; memory grows with their number.
    /// - Returns: The subscriptions of every environment, in no particular order.
    /// - Throws: `databaseUnavailable`.
    package func streams(
        withOriginalTransactionIds ids: [String]
    ) async throws(EventLogError) -> [NamedStream] {
        let asked = Dictionary(grouping: ids) { identity.lanes.lane(of: $0) }
        guard !asked.isEmpty else { return [] }
        let statements = asked.map { lane, ids in
            PostgresStatement(
                """
                SELECT environment, original_transaction_id,
                    bool_or(kind NOT IN ('link', 'erasure')), bool_or(kind = 'link')
                FROM ledger.event WHERE lane = $1 AND original_transaction_id = ANY ($2)
                GROUP BY lane, environment, original_transaction_id
                """,
                [.int4(Int32(lane)), .textArray(ids)]
            )
        }

        return try await reading("look up \(ids.count) subscriptions") { session in
            try await session.pipeline(statements).flatMap { rows in
                try rows.map { row in
                    NamedStream(
                        stream: try row.stream(0),
                        isKnownByApple: try row.bool(2),
                        isLinked: try row.bool(3)
                    )
                }
            }
        }
    }
}
