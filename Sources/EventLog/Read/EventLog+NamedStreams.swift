public import Events
internal import Postgres

extension EventLog {
    /// A subscription found by an id, with what an import of links needs to know.
    public struct NamedStream: Hashable, Sendable {
        /// The subscription.
        public let stream: StreamID
        /// Whether any of its events comes from Apple, rather than from a link alone.
        public let isKnownByApple: Bool
        /// Whether any link names it.
        public let isLinked: Bool
    }

    /// The subscriptions with these original transaction ids, in one round trip.
    ///
    /// - Parameter ids: The ids; memory grows with their number.
    /// - Returns: The subscriptions of every environment, in no particular order.
    /// - Throws: `databaseUnavailable`.
    public func streams(
        withOriginalTransactionIds ids: [String]
    ) async throws(EventLogError) -> [NamedStream] {
        let lanes = ids.map { Int32(identity.lanes.lane(of: $0)) }
        return try await reading("look up \(ids.count) subscriptions") { session in
            let rows = try await session.query(
                """
                SELECT e.environment, e.original_transaction_id,
                    bool_or(e.kind NOT IN ('link', 'erasure')), bool_or(e.kind = 'link')
                FROM unnest($1::int[], $2::text[]) AS asked (lane, id)
                JOIN ledger.event e
                    ON e.lane = asked.lane AND e.original_transaction_id = asked.id
                GROUP BY e.lane, e.environment, e.original_transaction_id
                """,
                [.int4Array(lanes), .textArray(ids)]
            )
            return try (0..<rows.count).map { row in
                NamedStream(
                    stream: StreamID(
                        environment: Environment(try rows[row].text(0)),
                        originalTransactionId: try rows[row].text(1)
                    ),
                    isKnownByApple: try rows[row].bool(2),
                    isLinked: try rows[row].bool(3)
                )
            }
        }
    }
}
