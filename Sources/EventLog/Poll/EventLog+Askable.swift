package import Events
internal import Postgres

/// The customers to ask Apple about, by one subscription each.
package struct AskableCustomers: Sendable {
    /// The subscription or purchase to name in the request.
    ///
    /// Apple answers about everything that its customer bought. Those that were never answered come
    /// first, then those answered longest ago.
    package let streams: [StreamID]
    /// How many more there are than the limit.
    package let left: Int
    /// How many were answered within the pause; none of them is among `streams`.
    package let recent: Int
    /// When they were selected, on the server's clock; nil if there is no customer.
    package let selectedAt: Instant?
}

/// The size of a run that asks about every customer.
package struct AskableSize: Hashable, Sendable {
    /// Customers, counting a subscription as a customer if its customer is unknown.
    package let customers: Int64
    /// Pages of their transaction histories, as far as the ledger knows them.
    package let historyPages: Int64

    /// Creates a size.
    package init(customers: Int64, historyPages: Int64) {
        self.customers = customers
        self.historyPages = historyPages
    }
}

extension EventLog {
    /// Customers to ask Apple about.
    ///
    /// Subscriptions and purchases that share an `appTransactionId` belong to one customer. The
    /// server sorts them; memory here grows only with the limit.
    ///
    /// - Parameters:
    ///   - environment: Where the purchases were made.
    ///   - subscribers: Whether only customers with a subscription are wanted. Purchases from
    ///     before 2025 do not name a customer: ask about them later, when the answers about
    ///     subscriptions have identified their customers.
    ///   - pause: Seconds after an answer before the same customer is asked about again.
    ///   - earlier: What this round selected before: whom it asked about is not returned again,
    ///     however short the pause is.
    ///   - limit: The most customers to return.
    /// - Returns: The customers.
    /// - Throws: `databaseUnavailable`.
    package func customersToAsk(
        in environment: StoreEnvironment,
        subscribers: Bool,
        pause: Double,
        after earlier: AskableCustomers? = nil,
        limit: Int
    ) async throws(EventLogError) -> AskableCustomers {
        let sql = """
            SELECT original_transaction_id, total, recent,
                floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
            FROM (
                SELECT *, count(*) OVER () AS total,
                    count(*) FILTER (WHERE is_recent) OVER () AS recent
                FROM (
                    SELECT c.original_transaction_id,
                        CASE WHEN \(EventLog.isAnswerDated("p")) THEN p.answered_at END
                            AS answered_at, coalesce(
                        p.answered_at > least(
                                clock_timestamp() - $2 * interval '1 millisecond',
                                to_timestamp($5::bigint / 1000.0))
                            AND \(EventLog.isAnswerDated("p")), false) AS is_recent
                    FROM (\(EventLog.customersSQL)) c
                    LEFT JOIN operation.poll p USING (lane, environment, original_transaction_id)
                    WHERE c.is_subscription OR NOT $4
                ) judged
            ) counted
            ORDER BY is_recent, answered_at NULLS FIRST, original_transaction_id
            LIMIT $3
            """
        let values: [PostgresValue] = [
            .text(environment.word), .int8(Int64(pause * 1000)), .int8(Int64(limit)),
            .bool(subscribers), earlier?.selectedAt.map { .int8($0.milliseconds) } ?? .null,
        ]

        return try await reading("select whom to ask Apple about") { session in
            let rows = try await session.query(sql, values)
            guard rows.count > 0 else {
                return AskableCustomers(streams: [], left: 0, recent: 0, selectedAt: nil)
            }
            let recent = Int(try rows[0].int8(2))
            let due = Int(try rows[0].int8(1)) - recent
            let streams = try rows.prefix(due).map { row in
                StreamID(environment: environment, originalTransactionId: try row.text(0))
            }
            return AskableCustomers(
                streams: streams,
                left: due - streams.count,
                recent: recent,
                selectedAt: Instant(milliseconds: try rows[0].int8(3))
            )
        }
    }

    /// The size of a run that asks about every customer of an environment.
    ///
    /// - Parameters:
    ///   - environment: Where the purchases were made.
    ///   - pageTransactions: Transactions on a page of Apple's answer.
    /// - Returns: The size.
    /// - Throws: `databaseUnavailable`.
    package func askableSize(
        in environment: StoreEnvironment,
        pageTransactions: Int
    ) async throws(EventLogError) -> AskableSize {
        let sql = """
            SELECT count(*), coalesce(sum(greatest(1, (purchases + $2 - 1) / $2)), 0)::bigint FROM (
                SELECT sum(purchases)::bigint AS purchases
                FROM (\(EventLog.streamsSQL)) s GROUP BY customer
            ) c
            """
        return try await reading("count whom to ask Apple about") { session in
            let row = try await session.query(
                sql,
                [.text(environment.word), .int8(Int64(pageTransactions))]
            ).single()
            return AskableSize(customers: try row.int8(0), historyPages: try row.int8(1))
        }
    }

    /// The number of notifications in the log that Apple signed in an interval.
    ///
    /// - Parameters:
    ///   - start: The first instant.
    ///   - end: The instant after the last.
    ///   - environment: Where the purchases were made.
    /// - Returns: The number.
    /// - Throws: `databaseUnavailable`.
    package func notificationCount(
        from start: Instant,
        to end: Instant,
        in environment: StoreEnvironment
    ) async throws(EventLogError) -> Int64 {
        try await reading("count notifications") { session in
            try await session.query(
                """
                SELECT count(*) FROM ledger.event
                WHERE kind = 'notification' AND environment = $1
                    AND as_of_ms >= $2 AND as_of_ms < $3
                """,
                [.text(environment.word), .int8(start.milliseconds), .int8(end.milliseconds)]
            ).single().int8(0)
        }
    }

    // Links and catalog versions are the operator's own: Apple does not know a subscription that
    // has only these.
    private static let streamsSQL = """
        SELECT lane, environment, original_transaction_id,
            coalesce(
                max(app_transaction_id)
                    FILTER (WHERE app_transaction_id !~* '\(Placeholder.pattern)'),
                original_transaction_id) AS customer,
            max(expires_date_ms) > 0 AS is_subscription,
            count(DISTINCT (purchase_date_ms, expires_date_ms))
                FILTER (WHERE kind = 'transaction') AS purchases
        FROM ledger.event
        WHERE environment = $1 AND original_transaction_id <> ''
            AND kind IN ('transaction', 'renewal', 'notification')
        GROUP BY lane, environment, original_transaction_id
        """

    // A subscription represents its customer in preference to a one-time purchase.
    private static let customersSQL = """
        SELECT DISTINCT ON (customer) lane, environment, original_transaction_id,
            is_subscription
        FROM (\(streamsSQL)) s
        ORDER BY customer, is_subscription DESC, original_transaction_id
        """
}
