internal import EventLog
public import Events

/// The outcome of an operator's statement about who owns a subscription.
public struct StatementDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The customer.
    public let customer: String
    /// `link` or `unlink`.
    public let statement: String
    /// When it begins; for a duplicate, as recorded in the log.
    public let statedAt: Instant
    /// `appended`, or `duplicate` if the log already contains it.
    public let outcome: String
    /// The events that state it.
    public let positions: [Position]

    /// The document of an accepted statement; nil if it was refused.
    package init?(_ link: CustomerLink, customer: String, _ result: LinkOutcome) {
        originalTransactionId = link.stream.originalTransactionId
        environment = link.stream.environment
        self.customer = customer
        statement = link.customer == nil ? "unlink" : "link"
        switch result {
        case .appended(let found):
            statedAt = link.statedAt
            outcome = "appended"
            positions = found
        case .duplicate(let position, let known):
            statedAt = known
            outcome = "duplicate"
            positions = [position]
        case .erased, .unknownStream, .notLinked, .held, .nameIsId: return nil
        }
    }
}
