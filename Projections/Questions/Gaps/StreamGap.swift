public import Events

/// Something that the ledger should know about a subscription but does not.
public struct StreamGap: Codable, Hashable, Sendable {
    /// The subscription; empty for a notification that is not about one.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// What is missing.
    public let kind: Kind
    /// The start of the gap: the end of the access, or the date of Apple's status or notification.
    public let since: Instant
    /// How long it lasted, or how long the notification took, in milliseconds.
    public let milliseconds: Int64
    /// Apple's statement that contradicts; nil if Apple made none.
    public let apple: String?
    /// The value folded from the log; nil if there is none.
    public let ours: String?
    /// The command that may close it; nil if nothing is left to do, or before it was asked for.
    public package(set) var next: String?
    /// The events it is based on, ascending, without duplicates.
    public let positions: [Position]

    /// What is missing.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// The period of a subscription that renews ended, without a statement from Apple since.
        case renewalMissing = "renewal_missing"
        /// Apple's newest status differs from the fold of everything signed by then.
        case statusContradicts = "status_contradicts"
        /// A notification that was received only by requesting it from Apple.
        case notificationMissed = "notification_missed"
    }

    /// A gap of a subscription.
    package init(
        of stream: StreamID,
        _ kind: Kind,
        since: Instant,
        milliseconds: Int64,
        apple: String? = nil,
        ours: String? = nil,
        positions: [Position]
    ) {
        (originalTransactionId, environment) = (stream.originalTransactionId, stream.environment)
        (self.kind, self.since, self.milliseconds) = (kind, since, milliseconds)
        (self.apple, self.ours, self.positions) = (apple, ours, positions)
    }

    /// The subscription.
    package var stream: StreamID {
        StreamID(environment: environment, originalTransactionId: originalTransactionId)
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
