package import Events
internal import Postgres

extension EventLog {
    /// Records the subscriptions that Apple named for an order, so that its id finds them.
    ///
    /// The order id of a subscription of which the customer or everything was erased is not kept.
    ///
    /// - Parameters:
    ///   - order: The order.
    ///   - streams: The subscriptions in Apple's answer.
    /// - Throws: `databaseUnavailable`; `permissionDenied` unless the login is a member of
    ///   `ledger_writer`.
    package func record(
        _ order: OrderID,
        of streams: Set<StreamID>
    ) async throws(EventLogError) {
        let lanes = identity.lanes
        let parts = Dictionary(grouping: streams) { lanes.lane(of: $0.originalTransactionId) }
        for (lane, streams) in parts.sorted(by: { $0.key < $1.key }) {
            try await writing("keep an order id") { session in
                // An erasure holds the lane's lock: afterwards it is seen, or it sees these rows.
                try session.query(AppendSQL.lockLane, [.int4(Int32(lane))])
                let erased = try EventLog.erased(streams, lane: lanes[lane], in: session)
                let kept = streams.filter { !erased.contains($0) }
                try session.query(
                    """
                    INSERT INTO operation.apple_order
                        (lane, environment, original_transaction_id, order_id)
                    SELECT $1, s.environment, s.id, $4
                    FROM unnest($2::text[], $3::text[]) AS s (environment, id)
                    ON CONFLICT DO NOTHING
                    """,
                    [
                        .int4(Int32(lane)), .textArray(kept.map(\.environment.word)),
                        .textArray(kept.map(\.originalTransactionId)), .text(order.text),
                    ]
                )
            }
        }
    }

    /// The subscriptions that are recorded for an order, sorted.
    ///
    /// Nobody signed which they are, so this is for finding one, not for what is true of a customer.
    ///
    /// - Parameter order: The order.
    /// - Returns: The subscriptions; empty if no import has asked Apple about it.
    /// - Throws: `tooManyStreams` if there are more than `customerStreamsMax`,
    ///   `databaseUnavailable`.
    package func streams(of order: OrderID) async throws(EventLogError) -> [StreamID] {
        let streams = try await reading("look up an order id") { session in
            try await session.query(
                """
                SELECT environment, original_transaction_id FROM operation.apple_order
                WHERE order_id = $1 LIMIT $2
                """,
                [.text(order.text), .int8(Int64(EventLog.customerStreamsMax + 1))]
            ).map { try $0.stream(0) }
        }
        guard streams.count <= EventLog.customerStreamsMax else {
            throw .tooManyStreams(order.text, "order id")
        }
        return streams.sorted()
    }

    /// The order ids that are recorded for a subscription, in order.
    ///
    /// - Parameter stream: The subscription.
    /// - Returns: The ids; empty if Apple was asked about none of them.
    /// - Throws: `databaseUnavailable`.
    package func orders(of stream: StreamID) async throws(EventLogError) -> [OrderID] {
        let key = stream.key(inLane: identity.lanes.lane(of: stream.originalTransactionId))
        return try await reading("look up the orders of a subscription") { session in
            try await session.query(
                """
                SELECT order_id FROM operation.apple_order
                WHERE lane = $1 AND environment = $2 AND original_transaction_id = $3
                ORDER BY order_id
                """,
                key
            ).compactMap { OrderID(try $0.text(0)) }
        }
    }

    /// Those of which an erasure removed the customer, or everything.
    static func erased(
        _ streams: [StreamID],
        lane: Lane,
        in session: isolated PostgresSession
    ) throws -> Set<StreamID> {
        let statement = EventLog.erasures(inLane: lane.number, of: streams)
        let rows = try session.query(statement.sql, statement.parameters)
        return Set(
            try EventRows.events(in: rows, lane: lane).filter { event in
                Erasure(event.fact.content).map { $0.scope.isLasting && $0.removesRows } ?? true
            }.map(\.fact.stream)
        )
    }

    /// Removes the order ids of a subscription; in the transaction of an erasure.
    static func forgetOrders(
        of stream: StreamID,
        lane: Int,
        in session: isolated PostgresSession
    ) throws {
        try session.query(
            """
            DELETE FROM operation.apple_order
            WHERE lane = $1 AND environment = $2 AND original_transaction_id = $3
            """,
            stream.key(inLane: lane)
        )
    }
}
