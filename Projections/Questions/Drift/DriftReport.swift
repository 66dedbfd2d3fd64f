public import Events

/// How well the fold agrees with Apple's own statements about subscriptions.
public struct DriftReport: Hashable, Sendable {
    /// How many of Apple's statements were compared.
    public var checked = 0
    /// How many of them agree completely.
    public var agreeing = 0
    /// What does not agree, by position.
    public var disagreements: [Disagreement] = []

    /// Creates an empty report.
    public init() {}

    /// One difference from a statement of Apple's.
    public struct Disagreement: Codable, Hashable, Sendable {
        /// The event with Apple's statement.
        public let position: Position
        /// The subscription.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: StoreEnvironment
        /// Apple's date for the statement.
        public let asOf: Instant
        /// What it is about.
        public let subject: Subject
        /// Apple's value.
        public let apple: String
        /// The fold's value; empty if it has none.
        public let ours: String

        private enum CodingKeys: String, CodingKey {
            case position, originalTransactionId, environment, asOf
            case subject = "what"
            case apple, ours
        }

        /// The subscription.
        var stream: StreamID {
            StreamID(environment: environment, originalTransactionId: originalTransactionId)
        }
    }

    /// The compared values; the raw values are Apple's names.
    public enum Subject: String, CaseIterable, Codable, Sendable {
        /// The status of a notification.
        case status
        /// The expiry of the newest purchase.
        case renewalDate
        /// Its product.
        case productId
        /// Whether the renewal is being retried.
        case isInBillingRetryPeriod
        /// Whether there is access without payment.
        case gracePeriodExpiresDate
    }

    /// Adds the report of another subscription; counts everything, and keeps at most that many
    /// disagreements.
    public mutating func add(_ other: DriftReport, keeping limit: Int) {
        checked += other.checked
        agreeing += other.agreeing
        disagreements += other.disagreements.prefix(max(0, limit - disagreements.count))
    }
}
