public import Events

/// An interval in which nothing about a subscription's state changed.
///
/// Half-open: `validTo` is the first instant of another state, nil until further notice.
public struct RenewalState: Hashable, Sendable {
    /// The subscription; a document names it once, not in each row.
    public internal(set) var stream = StreamID.ofDocument
    /// The first instant of this state.
    public let validFrom: Instant
    /// The first instant after this state; nil until Apple states otherwise.
    public let validTo: Instant?
    /// The status of the subscription.
    public let status: SubscriptionStatus
    /// The state of the charge for the next period.
    public let charge: Charge
    /// Whether it is set to renew; nil if it was never stated.
    public let isAutoRenewOn: Bool?
    /// The product that renews next (Apple's data: trap 25); nil if it was never stated.
    public let autoRenewProductId: String?
    /// The customer's answer to a price increase; nil if there is none to answer.
    public let priceConsent: PriceConsent?
    /// Why it ended, if it has expired or is in billing retry and Apple stated a reason; billing
    /// also if it expired out of a retry without any further statement from Apple.
    public let expirationReason: ExpirationReason?
    /// Price and offer of the next charge; nil if there will be none, or if they were never stated.
    public let terms: RenewalTerms?
    /// The events that caused the row, ascending, without duplicates; they depend on the order of
    /// arrival.
    public let positions: [Position]

    /// The state of the charge for the next period: what a poller has to ask about.
    public enum Charge: String, CaseIterable, Codable, Sendable {
        /// It is due when the period ends.
        case waiting
        /// It was made up to a day before the period's end (Apple's data: trap 14), and was not
        /// refunded.
        case succeeded
        /// It failed, and is retried for 60 days (Apple's data: trap 18).
        case failed
        /// There will be none: auto-renewal is off, the subscription has ended, or an early charge
        /// was refunded before its period began.
        case closed
    }
}

extension RenewalState: Codable {
    private enum CodingKeys: String, CodingKey {
        case validFrom, validTo, status, charge, isAutoRenewOn, autoRenewProductId, priceConsent
        case expirationReason, positions
    }

    /// Reads the row; the members of `terms` are its own.
    public init(from decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            validFrom: try row.decode(Instant.self, forKey: .validFrom),
            validTo: try row.decodeIfPresent(Instant.self, forKey: .validTo),
            status: try row.decode(SubscriptionStatus.self, forKey: .status),
            charge: try row.decode(Charge.self, forKey: .charge),
            isAutoRenewOn: try row.decodeIfPresent(Bool.self, forKey: .isAutoRenewOn),
            autoRenewProductId: try row.decodeIfPresent(String.self, forKey: .autoRenewProductId),
            priceConsent: try row.decodeIfPresent(PriceConsent.self, forKey: .priceConsent),
            expirationReason: try row.decodeIfPresent(
                ExpirationReason.self,
                forKey: .expirationReason
            ),
            terms: try RenewalTerms(ifStatedIn: decoder),
            positions: try row.decode([Position].self, forKey: .positions)
        )
    }

    /// Writes the row; the members of `terms` are its own.
    public func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(validFrom, forKey: .validFrom)
        try row.encodeIfPresent(validTo, forKey: .validTo)
        try row.encode(status, forKey: .status)
        try row.encode(charge, forKey: .charge)
        try row.encodeIfPresent(isAutoRenewOn, forKey: .isAutoRenewOn)
        try row.encodeIfPresent(autoRenewProductId, forKey: .autoRenewProductId)
        try row.encodeIfPresent(priceConsent, forKey: .priceConsent)
        try row.encodeIfPresent(expirationReason, forKey: .expirationReason)
        try row.encode(positions, forKey: .positions)
        try terms?.encode(to: encoder)
    }
}
