public import Events

/// Something that the ledger should know about a subscription but does not.
public struct StreamGap: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// What is missing.
    public let kind: Kind
    /// The start of the gap: the end of the access, or the date of Apple's status or notification.
    public let since: Instant
    /// How long it lasted, or how long the notification took, in milliseconds.
    public let milliseconds: Int64
    /// Apple's statement: the value for a contradiction, the type for a notification.
    public let apple: String
    /// The value folded from the log; empty if there is none.
    public let ours: String
    /// The events it is based on, ascending, without duplicates.
    public let positions: [Position]

    /// What is missing.
    public enum Kind: String, CaseIterable, Sendable {
        /// The period of a subscription that renews ended, without a statement from Apple since.
        case renewalMissing = "renewal_missing"
        /// Apple's newest status differs from the fold of everything signed by then.
        case statusContradicts = "status_contradicts"
        /// A notification that was received only by requesting it from Apple.
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
