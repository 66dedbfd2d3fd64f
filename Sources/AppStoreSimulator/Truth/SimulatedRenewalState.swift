package import Events
package import Projections

/// One expected row of `renewal_states`: the state of a subscription for a time.
package struct SimulatedRenewalState: Hashable, Sendable {
    /// Apple's status.
    package typealias Status = SubscriptionStatus

    /// The state of the next charge.
    package typealias Charge = RenewalState.Charge

    /// The first instant of the state.
    package internal(set) var validFrom: Instant
    /// The first instant after it; nil if it lasts until something new is learned.
    package internal(set) var validTo: Instant?
    /// Apple's status.
    package let status: Status
    /// The next charge.
    package let charge: Charge
    /// The renewal switch; nil before Apple stated it.
    package let isAutoRenewOn: Bool?
    /// The product that renews next; nil before Apple stated it.
    package let autoRenewProductId: String?
    /// The answer to a higher price; nil if there was no question.
    package let priceConsent: PriceConsent?
    /// Why it ended, if it has expired or is in retry; nil before Apple stated the cause.
    package let cause: ExpiryCause?
    /// The price of the next charge, for all seats, in thousandths of the currency's unit; nil if
    /// there will be none, or before Apple stated it.
    package let renewalPriceMilliunits: Int64?
    /// How many seats renew; nil without seats, or before Apple stated it.
    package let renewalSeats: Int64?
    /// Whether the subscription leaves its bundle when the period ends.
    package let willUnbundle: Bool
    /// The offer that applies to the next charge; nil without one.
    package let renewalOffer: SimulatedOffer?
    /// How the next period is paid; nil without a commitment, or before Apple stated it.
    package let renewalBillingPlan: SimulatedProduct.BillingPlan?
    /// What follows the commitment; nil without one, or before Apple stated it.
    package let commitment: SimulatedCommitment?
}

extension SimulatedRenewalState: CustomStringConvertible {
    /// One line: from, to, status, charge, switch, product, consent, then cause, next price, next
    /// offer, next billing plan and the end of the commitment, each if present.
    package var description: String {
        let renewal = isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown"
        return "\(validFrom) … \(validTo.map(\.description) ?? "") \(status)"
            + " \(charge.rawValue) \(renewal) \(autoRenewProductId ?? "-")"
            + " \(priceConsent?.rawValue ?? "-")"
            + (cause.map { " because \($0.rawValue)" } ?? "")
            + (renewalPriceMilliunits.map { " \($0)" } ?? "")
            + (renewalSeats.map { " \($0) seats" } ?? "") + (willUnbundle ? " unbundles" : "")
            + (renewalOffer.map { " offer \($0.category.rawValue) \($0.identifier ?? "-")" } ?? "")
            + (renewalBillingPlan.map { " \($0.word)" } ?? "")
            + (commitment.map { " \($0)" } ?? "")
    }
}

extension SimulatedCommitment: CustomStringConvertible {
    /// When the new commitment begins, whether it will, its product, its price and how it is paid.
    package var description: String {
        "commitment \(renewalDate) \(isAutoRenewOn ? "on" : "off") \(productId)"
            + (priceMilliunits.map { " \($0)" } ?? "") + (billingPlan.map { " \($0.word)" } ?? "")
    }
}
