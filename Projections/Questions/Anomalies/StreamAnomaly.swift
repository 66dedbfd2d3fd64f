public import Events

/// Something about one subscription that a person should check.
public struct StreamAnomaly: Codable, Hashable, Sendable {
    /// The subscription; of several that share an id, the first.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The kind of anomaly.
    public let kind: Kind
    /// The id that several subscriptions have; nil for an anomaly of one subscription.
    public let sharedId: String?
    /// The number of changes, refunds, periods, extensions, accounts or subscriptions involved.
    public let count: Int
    /// The amount currently refunded, in milliunits; nil if none of it is known.
    public let givenMilliunits: Int64?
    /// ISO 4217 code of that amount; nil if it was never stated, or if there are several.
    public let currency: String?
    /// The first of the changes, statements or refunds, or the start of the first of the periods.
    public let from: Instant
    /// The last of them.
    public let to: Instant
    /// The events it is based on, ascending, without duplicates.
    public let positions: [Position]

    /// The kind of anomaly.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// Switching back and forth, each time with a refund (Apple's data: trap 24).
        case refundLoop = "refund_loop"
        /// One purchase refunded again after a reversal.
        case refundedAgain = "refunded_again"
        /// Everything that was ever paid for was refunded.
        case everythingRefunded = "everything_refunded"
        /// Periods that give no access, because the purchase is not before the expiry.
        case emptyPeriod = "empty_period"
        /// An extension that a later statement took back, although Apple calls extensions
        /// irreversible (Apple's data: trap 45).
        case extensionTakenBack = "extension_taken_back"
        /// An app account token with which several Apple accounts have bought.
        case sharedToken = "shared_token"
        /// A transaction id and line item under several original transaction ids
        /// (Apple's data: trap 50).
        case sharedTransaction = "shared_transaction"
    }

    /// The subscription.
    var stream: StreamID {
        StreamID(environment: environment, originalTransactionId: originalTransactionId)
    }
}

extension StreamAnomaly {
    /// The worst first: by count, then by the amount refunded, then by stream and kind.
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
