package import Events
internal import Postgres

extension EventLog {
    /// A line in the list of customers.
    package struct LinkedCustomer: Codable, Hashable, Sendable {
        /// The app's own id for the customer.
        package let customerId: String
        /// Number of the subscriptions that a link ever gave the customer.
        package let streams: Int64
        /// When the first of these links was committed, on our clock.
        package let firstRecordedAt: Instant
        /// When the newest of them was committed.
        package let lastRecordedAt: Instant

        private enum CodingKeys: String, CodingKey {
            case customerId = "customer"
            case streams, firstRecordedAt, lastRecordedAt
        }
    }

    /// A page of the customers that links name, in UTF-8 order.
    ///
    /// - Parameters:
    ///   - after: The last customer of the previous page; empty for the first page.
    ///   - limit: The most lines of the page.
    /// - Returns: The lines; fewer than `limit` on the last page.
    /// - Throws: `databaseUnavailable`.
    package func customers(
        after: String = "",
        limit: Int
    ) async throws(EventLogError) -> [LinkedCustomer] {
        try await reading("list the customers") { session in
            let rows = try await session.query(
                EventLog.customersSQL,
                [.text(after), .int8(Int64(limit))]
            )
            return try rows.map { row in
                LinkedCustomer(
                    customerId: try row.text(0),
                    streams: try row.int8(1),
                    firstRecordedAt: Instant(microseconds: try row.timestamptz(2)),
                    lastRecordedAt: Instant(microseconds: try row.timestamptz(3))
                )
            }
        }
    }

    /// Selects the subscriptions of a list of claims.
    package enum ClaimedBy: Sendable {
        /// A link, or more than one app account token.
        case anybody
        /// Links to more than one customer: only these can be contested.
        case severalCustomers
        /// Any app account token.
        case token
    }

    /// A page of the claimed subscriptions, by lane, id and environment.
    ///
    /// - Parameters:
    ///   - claimed: Which subscriptions.
    ///   - after: The last one of the previous page; nil for the first page.
    ///   - limit: The most subscriptions of the page.
    /// - Returns: The subscriptions; fewer than `limit` on the last page.
    /// - Throws: `databaseUnavailable`.
    package func streams(
        claimedBy claimed: ClaimedBy,
        after: StreamID? = nil,
        limit: Int
    ) async throws(EventLogError) -> [StreamID] {
        let lane = after.map { identity.lanes.lane(of: $0.originalTransactionId) } ?? -1
        let parameters: [PostgresValue] = [
            .int4(Int32(lane)), .text(after?.environment.word ?? ""),
            .text(after?.originalTransactionId ?? ""), .int8(Int64(limit)),
        ]
        return try await reading("list the claimed streams") { session in
            let rows = try await session.query(EventLog.claimedSQL(claimed), parameters)
            return try rows.map { try $0.stream(1) }
        }
    }

    private static let customersSQL = """
        SELECT customer_id, count(DISTINCT (environment, original_transaction_id)),
            min(recorded_at), max(recorded_at)
        FROM ledger.event WHERE customer_id IS NOT NULL AND customer_id > $1
        GROUP BY customer_id ORDER BY customer_id LIMIT $2
        """

    // Links to customers are few and have an index; tokens are found by scanning streams in order.
    private static func claimedSQL(_ claimed: ClaimedBy) -> String {
        let (some, all) =
            switch claimed {
            case .anybody:
                (
                    "environment <> '' AND original_transaction_id <> ''",
                    "bool_or(kind = 'link') OR count(DISTINCT lower(app_account_token)) > 1"
                )
            case .severalCustomers: ("customer_id IS NOT NULL", "count(DISTINCT customer_id) > 1")
            case .token: ("app_account_token IS NOT NULL", "true")
            }
        return """
            SELECT lane, environment, original_transaction_id FROM ledger.event
            WHERE \(some) AND (lane, original_transaction_id, environment) > ($1, $3, $2)
            GROUP BY lane, original_transaction_id, environment HAVING \(all)
            ORDER BY lane, original_transaction_id, environment LIMIT $4
            """
    }
}
