public import Events

/// Something about one subscription that a person should look at.
public struct StreamAnomaly: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// What is odd.
    public let kind: Kind
    /// How many changes, refunds or periods make it so.
    public let count: Int
    /// What is given back as things stand, in milliunits; nil where nothing of it is known.
    public let givenMilliunits: Int64?
    /// ISO 4217 of that; nil if it was never stated, or if there are several.
    public let currency: String?
    /// The first of the changes or refunds, or the start of the first of the periods.
    public let from: Instant
    /// The last of them.
    public let to: Instant
    /// The events that say so, ascending, each once.
    public let positions: [Position]

    /// What is odd.
    public enum Kind: String, CaseIterable, Sendable {
        /// Switching to and fro, each time with money back (Apple's data: trap 24).
        case refundLoop = "refund_loop"
        /// One purchase refunded again after a reversal.
        case refundedAgain = "refunded_again"
        /// Everything that was ever paid for was given back.
        case everythingRefunded = "everything_refunded"
        /// Periods that give no access, because the purchase is not before the expiry.
        case emptyPeriod = "empty_period"
    }
}

extension StreamAnomaly {
    /// The worst first: by count, then by what was given back, then by stream and kind.
    public static func isWorse(_ left: StreamAnomaly, _ right: StreamAnomaly) -> Bool {
        if left.count != right.count { return left.count > right.count }
        let (mine, theirs) = (left.givenMilliunits ?? 0, right.givenMilliunits ?? 0)
        if mine != theirs { return mine > theirs }
        if left.stream != right.stream { return left.stream < right.stream }
        if left.kind != right.kind {
            return byBytes(left.kind.rawValue, right.kind.rawValue) ?? false
        }
        return left.from < right.from
    }
}
