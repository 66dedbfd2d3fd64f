/// What the bearer of a token may do over HTTP.
package enum TokenRole: String, CaseIterable, Codable, Hashable, Sendable {
    /// Submit transactions and receipts, and request a refresh of a customer from Apple, whose
    /// answer shows the customer's access.
    case ingest
    /// Ask about customers and subscriptions, and read payloads.
    case support
    /// Read reports, also that of payments, whose rows are customers.
    case finance
    /// Read reports, and nothing about a single customer.
    case analyst
    /// Read the metrics, see operations and tables in the console, promote tables, and take
    /// checkpoints; nothing about customers.
    case `operator`
    /// All of these.
    case admin
}
