package import Events
internal import Postgres

extension EventLog {
    /// An id that several subscriptions of one environment have.
    package struct SharedID: Hashable, Sendable {
        /// The token or transaction id.
        package let id: String
        /// The line item of the transaction; empty for a token.
        package let lineItem: String
        /// The subscriptions, at most `customerStreamsMax` of them.
        package let streams: [StreamID]
    }

    /// The most ids of one kind that are examined, those with the most subscriptions first: each of
    /// them is read and folded.
    package static let sharedIdsMax = 1000

    /// App account tokens that at least this many subscriptions have, the most shared first.
    ///
    /// - Throws: `databaseUnavailable`.
    package func sharedTokens(min: Int) async throws(EventLogError) -> [SharedID] {
        try await sharedIds(EventLog.sharedTokensSQL, min: min)
    }

    /// Transaction ids that occur with the same line item under several original transaction ids,
    /// the most shared first.
    ///
    /// - Throws: `databaseUnavailable`.
    package func sharedTransactions() async throws(EventLogError) -> [SharedID] {
        try await sharedIds(EventLog.sharedTransactionsSQL, min: 2)
    }

    private func sharedIds(_ sql: String, min: Int) async throws(EventLogError) -> [SharedID] {
        try await reading("find ids that several subscriptions have") { session in
            let rows = try await session.query(
                sql,
                [.int8(Int64(min)), .int8(Int64(EventLog.sharedIdsMax))]
            )
            return try rows.map { row in
                let environment = StoreEnvironment(try row.text(0))
                let ids = try row.text(3).split(separator: "\n")
                return SharedID(
                    id: try row.text(1),
                    lineItem: try row.text(2),
                    streams: ids.map {
                        StreamID(environment: environment, originalTransactionId: String($0))
                    }
                )
            }
        }
    }

    // Ids contain no line breaks.
    private static let sharers = """
        array_to_string((array_agg(DISTINCT original_transaction_id))[1:\(customerStreamsMax)], E'\\n')
        """

    // The letters of a UUID are the same in either case; other tokens are compared as they are.
    private static let sharedTokensSQL = """
        SELECT environment,
            CASE WHEN app_account_token ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                THEN lower(app_account_token) ELSE app_account_token END AS id,
            '' AS line_item, \(sharers)
        FROM ledger.event
        WHERE app_account_token IS NOT NULL AND app_account_token !~* '\(Placeholder.pattern)'
        GROUP BY environment, id
        HAVING count(DISTINCT original_transaction_id) >= $1
        ORDER BY count(DISTINCT original_transaction_id) DESC, environment, id LIMIT $2
        """

    private static let sharedTransactionsSQL = """
        SELECT environment, transaction_id, web_order_line_item_id, \(sharers)
        FROM ledger.event
        WHERE kind = 'transaction' AND transaction_id IS NOT NULL
            AND web_order_line_item_id !~* '\(Placeholder.pattern)'
        GROUP BY environment, transaction_id, web_order_line_item_id
        HAVING count(DISTINCT original_transaction_id) >= $1
        ORDER BY count(DISTINCT original_transaction_id) DESC, environment, transaction_id LIMIT $2
        """
}
