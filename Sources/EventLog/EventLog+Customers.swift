public import Events
internal import Postgres

extension EventLog {
    /// Most subscriptions that one look-up gives: those of a person are few, also of one who lets
    /// trials lapse for years, and all of them are read and folded at once to answer about one
    /// customer. What leads to more is no person: a token that an app gives everybody.
    public static let customerStreamsMax = 1000

    /// The subscriptions that a link ever named this customer for, sorted; whose they are now is
    /// for `StreamClaims` to say.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofCustomer customer: String
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(of: [customer], by: EventLog.byCustomer, named: "customer")
    }

    /// The subscriptions in which Apple ever named any of these app account tokens, sorted.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofAppAccountTokens tokens: [String]
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(of: tokens, by: EventLog.byToken, named: "app account token")
    }

    /// The subscriptions that hold any of these transaction ids, as an event's own or as the alias
    /// of a repetition (app-store.md §G-4), sorted.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofTransactionIds ids: [String]
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(of: ids, by: EventLog.byTransaction, named: "transaction id")
    }

    private func streams(
        of keys: [String],
        by sql: String,
        named name: String
    ) async throws(EventLogError) -> [StreamID] {
        let keys = keys.filter { !$0.isEmpty }
        guard !keys.isEmpty else { return [] }
        let parameters: [PostgresValue] = [
            .textArray(keys), .int8(Int64(EventLog.customerStreamsMax + 1)),
        ]
        let found = try await reading("look up streams by \(name)") { session in
            let rows = try await session.query(sql, parameters)
            return try (0..<rows.count).map { row in
                StreamID(
                    environment: Environment(try rows[row].text(0)),
                    originalTransactionId: try rows[row].text(1)
                )
            }
        }
        guard found.count <= EventLog.customerStreamsMax else {
            throw EventLogError.tooManyStreams(keys[0], name)
        }
        return found.sorted()
    }

    // DISTINCT before LIMIT: a stream has an event a renewal, and counts once.
    private static let byCustomer = """
        SELECT DISTINCT environment, original_transaction_id FROM ledger.event
        WHERE customer_id = ANY ($1) LIMIT $2
        """

    private static let byToken = """
        SELECT DISTINCT environment, original_transaction_id FROM ledger.event
        WHERE app_account_token = ANY ($1) AND original_transaction_id <> '' LIMIT $2
        """

    private static let byTransaction = """
        SELECT environment, original_transaction_id FROM ledger.event
        WHERE transaction_id = ANY ($1) AND original_transaction_id <> ''
        UNION SELECT environment, original_transaction_id FROM ledger.confirmation
        WHERE transaction_id = ANY ($1) AND transaction_id <> '' AND original_transaction_id <> ''
        LIMIT $2
        """
}

extension EventLogError {
    /// The refusal to answer about a customer with more subscriptions than a person has.
    public static func tooManyStreams(_ key: String, _ name: String) -> EventLogError {
        EventLogError(
            .tooManyStreams,
            "the \(name) \(key) leads to more than \(EventLog.customerStreamsMax) subscriptions, "
                + "which is more than one answer takes; ask about one of them by its "
                + "originalTransactionId"
        )
    }
}
