package import Events

/// How well the fold agrees with Apple's own statements about subscriptions.
package struct DriftReport: Hashable, Sendable {
    /// How many of Apple's statements were compared.
    package var checked = 0
    /// How many of them agree completely.
    package var agreeing = 0
    /// What does not agree, by position.
    package var disagreements: [Disagreement] = []

    /// Creates an empty report.
    package init() {}

    /// One difference from a statement of Apple's.
    package struct Disagreement: Codable, Hashable, Sendable {
        /// The event with Apple's statement.
        package let position: Position
        /// The subscription.
        package let originalTransactionId: String
        /// Where the purchases were made.
        package let environment: StoreEnvironment
        /// Apple's date for the statement.
        package let asOf: Instant
        /// What it is about.
        package let subject: Subject
        /// Apple's value.
        package let apple: String
        /// The fold's value; empty if it has none.
        package let ours: String

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
    package enum Subject: String, CaseIterable, Codable, Sendable {
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
    package mutating func add(_ other: DriftReport, keeping limit: Int) {
        checked += other.checked
        agreeing += other.agreeing
        disagreements += other.disagreements.prefix(max(0, limit - disagreements.count))
    }
}
