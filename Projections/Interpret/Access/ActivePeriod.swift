public import Events

/// A stretch of time in which one purchase, or the grace after it, gave access.
///
/// Half-open: `validTo` is the first instant without. An empty one (`validFrom == validTo`) is a
/// purchase that was taken back before it began; it stays in the history.
public struct ActivePeriod: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The product.
    public let productId: String
    /// Start of the purchase, in whole seconds.
    public let purchaseDate: Instant
    /// Natural end of the purchase, in whole seconds.
    public let expiresDate: Instant
    /// Start of the access.
    public let validFrom: Instant
    /// End of the access; never before `validFrom`.
    public let validTo: Instant
    /// Why there was access.
    public let kind: Kind
    /// Why it ended.
    public let endReason: EndReason
    /// Why the subscription was not renewed at its end, in Apple's words: nil where access went on,
    /// or Apple did not say.
    ///
    /// `renewal_states` cites the event that says it.
    public internal(set) var expirationReason: ExpirationReason?
    /// How the purchase is paid; nil where Apple did not say.
    public internal(set) var billingPlan: BillingPlan?
    /// The items of an Advanced Commerce purchase; none for all others.
    public internal(set) var items: [CommerceItem] = []
    /// The events that caused the row, ascending, each once; in no digest and no comparison of
    /// ledgers, for they depend on the order of arrival.
    public let positions: [Position]

    /// A row of these values.
    public init(
        stream: StreamID,
        productId: String,
        purchaseDate: Instant,
        expiresDate: Instant,
        validFrom: Instant,
        validTo: Instant,
        kind: Kind,
        endReason: EndReason,
        positions: [Position]
    ) {
        self.stream = stream
        self.productId = productId
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.validFrom = validFrom
        self.validTo = validTo
        self.kind = kind
        self.endReason = endReason
        self.positions = positions
    }

    /// Why there is access.
    public enum Kind: String, CaseIterable, Sendable {
        /// A free introductory offer.
        case trial
        /// A paid introductory offer.
        case intro
        /// A promotional offer, an offer code, a win-back, or a kind of offer not known yet.
        case offer
        /// The standard price.
        case paid
        /// Billing grace after a failed renewal (Apple's data: trap 20).
        case grace
    }

    /// Why access ended.
    public enum EndReason: String, CaseIterable, Sendable {
        /// The period ran out.
        case expired
        /// Another purchase took its place.
        case upgraded
        /// Apple took it back before its end: access until then, nothing after, and nothing
        /// revived.
        case refunded
        /// Family sharing ended (Apple's data: trap 33).
        case revoked
        /// It had not ended when Apple last spoke of the subscription: its end lies after the
        /// newest date that Apple signed. No clock decides, so it stays open until Apple speaks
        /// again; readers compare `validTo` with their own clock.
        case open
    }
}

extension ActivePeriod {
    /// Whether something else than its natural end ended it.
    var isTakenBack: Bool {
        switch endReason {
        case .refunded, .revoked, .upgraded: true
        case .expired, .open: false
        }
    }

    // Beyond the documented order the rest of the row decides, so that no order of arrival does.
    static func areInOrder(_ left: ActivePeriod, _ right: ActivePeriod) -> Bool {
        if left.validFrom != right.validFrom { return left.validFrom < right.validFrom }
        if left.validTo != right.validTo { return left.validTo < right.validTo }
        if let isFirst = byBytes(left.kind.rawValue, right.kind.rawValue) { return isFirst }
        if let isFirst = byBytes(left.productId, right.productId) { return isFirst }
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        if left.expiresDate != right.expiresDate { return left.expiresDate < right.expiresDate }
        return byBytes(left.endReason.rawValue, right.endReason.rawValue) ?? false
    }
}
