internal import Events
internal import Postgres

extension EventLog {
    /// The customers of links whose name differs from a text at most in the case of its letters, or
    /// in how accents are composed.
    ///
    /// Reads every link's name from its index, page by page, so it is for a name that was not found.
    /// The names are compared here, because which letters a database can fold depends on its
    /// collation.
    ///
    /// - Parameter name: The name, as somebody wrote it.
    /// - Returns: At most ten names, in UTF-8 order.
    /// - Throws: `databaseUnavailable`.
    package func customers(spelledLike name: String) async throws(EventLogError) -> [String] {
        let folded = name.lowercased()
        return try await reading("look up the customer") { session in
            var (found, last): ([String], String?) = ([], "")
            while let after = last, found.count < EventLog.spellingsMax {
                let rows = try await session.query(
                    EventLog.namesSQL,
                    [.text(after), .int8(Int64(EventLog.namesAtOnce))]
                )
                let names = try rows.map { try $0.text(0) }
                found += names.filter { $0.lowercased() == folded }
                last = names.count < EventLog.namesAtOnce ? nil : names.last
            }
            return Array(found.prefix(EventLog.spellingsMax))
        }
    }

    /// The most names that are returned: enough for an error to list.
    private static let spellingsMax = 10

    /// Names that are read at once: some hundred kilobytes.
    private static let namesAtOnce = 4096

    private static let namesSQL = """
        SELECT DISTINCT customer_id FROM ledger.event
        WHERE customer_id IS NOT NULL AND customer_id > $1
        ORDER BY customer_id LIMIT $2
        """
}
