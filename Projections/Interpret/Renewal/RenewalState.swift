public import Events

/// A stretch of time in which nothing about a subscription's state changed.
///
/// Half-open: `validTo` is the first instant of another state, nil until further notice.
public struct RenewalState: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The first instant of this state.
    public let validFrom: Instant
    /// The first instant that is not of this state; nil until Apple says otherwise.
    public let validTo: Instant?
    /// Where the subscription stands.
    public let status: SubscriptionStatus
    /// Where the charge for the next period stands.
    public let charge: Charge
    /// Whether it is set to renew; nil if it was never stated.
    public let isAutoRenewOn: Bool?
    /// The product that renews next (Apple's data: trap 25); nil if it was never stated.
    public let autoRenewProductId: String?
    /// The customer's answer to a price increase; nil where there is none to answer.
    public let priceConsent: PriceConsent?
    /// Why it ended, where it has expired or is in billing retry and Apple said so; billing also
    /// where it expired out of a retry about which Apple said no more.
    public let expirationReason: ExpirationReason?
    /// Price and offer of the next charge; nil if there will be none, or if they were never stated.
    public let terms: RenewalTerms?
    /// The events that caused the row, ascending, each once; they depend on the order of arrival.
    public let positions: [Position]

    /// Where the charge for the next period stands: what a poller has to ask about.
    public enum Charge: String, CaseIterable, Sendable {
        /// It is due when the period ends.
        case waiting
        /// It was made before the period's end, which it may be for a day (Apple's data: trap 14),
        /// and was not given back.
        case succeeded
        /// It could not be made, and is tried again for 60 days (Apple's data: trap 18).
        case failed
        /// There will be none: auto-renewal is off, the subscription has ended, or what was charged
        /// early was refunded before it began.
        case closed
    }
}
