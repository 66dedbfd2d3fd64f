public import Events

/// Something that the ledger should know about a subscription, and does not.
public struct StreamGap: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// What is missing.
    public let kind: Kind
    /// Since when: the end of the access, the date of Apple's status, or of the notification.
    public let since: Instant
    /// How long that was, or how long the notification took, in milliseconds.
    public let milliseconds: Int64
    /// What Apple says: of a contradiction its value, of a notification its type.
    public let apple: String
    /// What is folded from the log; empty where nothing is.
    public let ours: String
    /// The events that say so, ascending, each once.
    public let positions: [Position]

    /// What is missing.
    public enum Kind: String, CaseIterable, Sendable {
        /// The period of a subscription that renews ended, and Apple has not spoken since.
        case renewalMissing = "renewal_missing"
        /// Apple's newest status differs from what is folded of all that was signed by then.
        case statusContradicts = "status_contradicts"
        /// A notification that only the question to Apple brought.
        case notificationMissed = "notification_missed"
    }

    /// A gap.
    public init(
        stream: StreamID,
        kind: Kind,
        since: Instant,
        milliseconds: Int64,
        apple: String,
        ours: String,
        positions: [Position]
    ) {
        self.stream = stream
        self.kind = kind
        self.since = since
        self.milliseconds = milliseconds
        self.apple = apple
        self.ours = ours
        self.positions = positions
    }
}

extension StreamGap {
    /// Those that may lock a customer out first: by kind, then the longest, then by stream.
    public static func isWorse(_ left: StreamGap, _ right: StreamGap) -> Bool {
        let order = (
            Kind.allCases.firstIndex(of: left.kind) ?? 0,
            Kind.allCases.firstIndex(of: right.kind) ?? 0
        )
        if order.0 != order.1 { return order.0 < order.1 }
        if left.milliseconds != right.milliseconds { return left.milliseconds > right.milliseconds }
        if left.stream != right.stream { return left.stream < right.stream }
        return left.since < right.since
    }
}
