internal import Events
internal import Postgres

extension EventLog {
    /// The customers of links whose name differs from a text at most in the case of ASCII letters.
    ///
    /// Reads every link's name from its index, so it is for a name that was not found.
    ///
    /// - Parameter name: The name, as somebody wrote it.
    /// - Returns: At most ten names, in UTF-8 order.
    /// - Throws: `databaseUnavailable`.
    package func customers(spelledLike name: String) async throws(EventLogError) -> [String] {
        try await reading("look up the customer") { session in
            let rows = try await session.query(EventLog.spellingsSQL, [.text(name)])
            return try (0..<rows.count).map { try rows[$0].text(0) }
        }
    }

    private static let spellingsSQL = """
        SELECT DISTINCT customer_id FROM ledger.event
        WHERE customer_id IS NOT NULL AND lower(customer_id) = lower($1 COLLATE "C")
        ORDER BY customer_id LIMIT 10
        """
}
