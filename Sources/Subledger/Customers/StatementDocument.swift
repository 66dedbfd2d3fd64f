internal import EventLog
package import Events

/// The outcome of an operator's statement about who owns a subscription.
package struct StatementDocument: Codable, Hashable, Sendable {
    /// The subscription.
    package let originalTransactionId: String
    /// Where the purchases were made.
    package let environment: StoreEnvironment
    /// The customer.
    package let customer: String
    /// `link` or `unlink`.
    package let statement: String
    /// When it begins; for a duplicate, as recorded in the log.
    package let statedAt: Instant
    /// `appended`, or `duplicate` if the log already contains it.
    package let outcome: String
    /// The events that state it.
    package let positions: [Position]

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
