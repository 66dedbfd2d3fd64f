public import Events

/// How well the fold agrees with what Apple itself says about subscriptions.
public struct DriftReport: Hashable, Sendable {
    /// How many of Apple's statements were compared.
    public var checked = 0
    /// How many of them agree in everything.
    public var agreeing = 0
    /// What does not agree, by position.
    public var disagreements: [Disagreement] = []

    /// A report of nothing.
    public init() {}

    /// One thing that Apple says otherwise.
    public struct Disagreement: Hashable, Sendable {
        /// The event that holds Apple's statement.
        public let position: Position
        /// The subscription.
        public let stream: StreamID
        /// When Apple said it.
        public let asOf: Instant
        /// What it is about.
        public let subject: Subject
        /// Apple's value.
        public let apple: String
        /// The fold's value; empty where it has none.
        public let ours: String
    }

    /// What Apple's statements are compared in; the raw values are Apple's names.
    public enum Subject: String, CaseIterable, Sendable {
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

    /// Takes in the report of another subscription; counts all, and keeps at most that many
    /// disagreements.
    public mutating func add(_ other: DriftReport, keeping limit: Int) {
        checked += other.checked
        agreeing += other.agreeing
        disagreements += other.disagreements.prefix(max(0, limit - disagreements.count))
    }
}
