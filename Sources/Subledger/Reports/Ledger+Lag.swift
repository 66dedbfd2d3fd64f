internal import EventLog

extension Ledger {
    /// How many events the log has after these positions, by lane.
    package func lag(behind positions: [String: Int64]) async throws -> Int64 {
        try await log.heads().reduce(0) { sum, head in
            sum + max(0, head.value.offset - (positions["\(head.key)"] ?? 0))
        }
    }
}

/// What the live tables that were read lack.
///
/// - Parameters:
///   - lag: The number of events that are not in them yet.
///   - subject: What was read from them, in one word.
/// - Returns: The sentence.
package func lagWords(_ lag: Int64, of subject: String) -> String {
    "the tables of this \(subject) are \(counted(lag, "event")) behind the log: `subledger "
        + "follow --once` brings them up to date"
}
