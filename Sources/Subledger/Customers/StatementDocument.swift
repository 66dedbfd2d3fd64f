internal import EventLog
public import Events

/// What became of an operator's statement about whose a subscription is.
public struct StatementDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// The customer.
    public let customer: String
    /// `link` or `unlink`.
    public let statement: String
    /// Since when it holds; of a duplicate, as the log has it.
    public let statedAt: Instant
    /// `appended`, or `duplicate` where the log says it already.
    public let outcome: String
    /// The events that say it.
    public let positions: [PositionValue]

    /// The document of a statement that was taken; nil where it was refused.
    package init?(_ link: CustomerLink, customer: String, _ result: LinkOutcome, lanes: LaneCount) {
        originalTransactionId = link.stream.originalTransactionId
        environment = link.stream.environment
        self.customer = customer
        statement = link.customer == nil ? "unlink" : "link"
        switch result {
        case .appended(let found):
            statedAt = link.statedAt
            outcome = "appended"
            positions = found.values(lanes: lanes)
        case .duplicate(let position, let known):
            statedAt = known
            outcome = "duplicate"
            positions = [position].values(lanes: lanes)
        case .erased, .unknownStream, .notLinked, .held, .nameIsId: return nil
        }
    }
}
