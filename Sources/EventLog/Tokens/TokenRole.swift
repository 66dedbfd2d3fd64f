/// What the bearer of a token may do over HTTP.
public enum TokenRole: String, CaseIterable, Codable, Hashable, Sendable {
    /// Bring transactions and receipts, and have Apple asked about a customer (refresh), whose access
    /// the answer shows.
    case ingest
    /// Ask about customers and subscriptions, and read payloads.
    case support
    /// Read reports.
    case finance
    /// All of these.
    case admin
}
