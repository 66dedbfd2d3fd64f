public import Events

/// One row of truth: how a subscription stood for a time, as `renewal_states` must tell it.
public struct SimulatedRenewalState: Hashable, Sendable {
    /// Apple's status (Apple's data: status values).
    public enum Status: String, CaseIterable, Hashable, Sendable {
        /// Paid for, or free by an offer.
        case active
        /// Billing failed, access goes on.
        case gracePeriod = "grace_period"
        /// Billing is retried, without access.
        case billingRetry = "billing_retry"
        /// Over.
        case expired
        /// Refunded, or no longer shared.
        case revoked
    }

    /// How the next charge stands.
    public enum Charge: String, CaseIterable, Hashable, Sendable {
        /// It will be tried when the period ends.
        case waiting
        /// It went through before the period ended.
        case succeeded
        /// It did not go through.
        case failed
        /// There will be none.
        case closed
    }

    /// Whether the customer agreed to a higher price.
    public enum PriceConsent: String, CaseIterable, Hashable, Sendable {
        /// Asked, not answered.
        case pending
        /// Agreed.
        case accepted
    }

    /// The first instant of it.
    public let validFrom: Instant
    /// The first instant after it; nil where it holds until something else is heard.
    public let validTo: Instant?
    /// Apple's status.
    public let status: Status
    /// The next charge.
    public let charge: Charge
    /// The renewal switch; nil before Apple said anything of it.
    public let isAutoRenewOn: Bool?
    /// The product that renews next; nil before Apple said which.
    public let autoRenewProductId: String?
    /// The answer to a higher price; nil where none was asked.
    public let priceConsent: PriceConsent?
    /// Why it ended, where it has expired or is retried; nil before Apple said why.
    public let cause: ExpiryCause?
    /// What the next charge will be, in thousandths of the currency's unit; nil where there will be
    /// none, or before Apple said how much.
    public let renewalPriceMilliunits: Int64?
    /// The offer that applies to the next charge; nil without one.
    public let renewalOffer: SimulatedOffer?
    /// How the next period is paid; nil without a commitment, or before Apple said how.
    public let renewalBillingPlan: SimulatedProduct.BillingPlan?
    /// What becomes of the commitment; nil without one, or before Apple said what.
    public let commitment: SimulatedCommitment?
}

extension SimulatedRenewalState: CustomStringConvertible {
    /// One line: from, to, status, charge, switch, product, consent, then the cause, the next
    /// price, the next offer, the next way to pay and what becomes of the commitment where there
    /// are any.
    public var description: String {
        let renewal = isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown"
        return "\(validFrom) … \(validTo.map(\.description) ?? "") \(status.rawValue)"
            + " \(charge.rawValue) \(renewal) \(autoRenewProductId ?? "-")"
            + " \(priceConsent?.rawValue ?? "-")"
            + (cause.map { " because \($0.rawValue)" } ?? "")
            + (renewalPriceMilliunits.map { " \($0)" } ?? "")
            + (renewalOffer.map { " offer \($0.category.rawValue) \($0.identifier ?? "-")" } ?? "")
            + (renewalBillingPlan.map { " \($0.word)" } ?? "")
            + (commitment.map { " \($0)" } ?? "")
    }
}

extension SimulatedCommitment: CustomStringConvertible {
    /// When the new one begins, whether it will, its product, its price and how it is paid.
    public var description: String {
        "commitment \(renewalDate) \(isAutoRenewOn ? "on" : "off") \(productId)"
            + (priceMilliunits.map { " \($0)" } ?? "") + (billingPlan.map { " \($0.word)" } ?? "")
    }
}

extension SubscriptionLife {
    /// The rows that `renewal_states` must have once everything was delivered.
    public var states: [SimulatedRenewalState] { known?.states ?? [] }

    /// The rows for somebody who knows what had happened by an instant, as in `periods(asOf:)`.
    public func states(asOf instant: Instant) -> [SimulatedRenewalState] {
        known(asOf: instant)?.states ?? []
    }
}
