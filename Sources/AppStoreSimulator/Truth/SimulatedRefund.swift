public import Events

/// One row of truth: a request for money or the giving back of it, as `refunds` must tell it.
public struct SimulatedRefund: Hashable, Sendable {
    /// What kind of refund it is, as far as Apple says so.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The whole price.
        case full
        /// A part of the price.
        case prorated
        /// Family sharing withdrawn: no money.
        case familyRevoke = "family_revoke"
        /// Known only from payloads made before Apple told the kind (2025-12).
        case untyped
    }

    /// Where the revocation lies, seen from the purchase.
    public enum Timing: String, CaseIterable, Hashable, Sendable {
        /// While the purchase gave access.
        case current
        /// After that, while another purchase gave access.
        case older
        /// After that, without any access.
        case afterExpiry = "after_expiry"
    }

    /// What became of the case.
    public enum State: String, CaseIterable, Hashable, Sendable {
        /// Asked for.
        case requested
        /// Asked for and refused.
        case declined
        /// Given back.
        case refunded
        /// Given back and taken again.
        case reversed
    }

    /// How a reversal came to light.
    public enum Reversal: String, CaseIterable, Hashable, Sendable {
        /// Apple said so.
        case announced
        /// A later statement knows of no refund (Apple's data: trap 31).
        case inferred
    }

    /// The product.
    public let productId: String
    /// The begin of the purchase.
    public let purchaseDate: Instant
    /// Its natural end; nil for a purchase that has none.
    public let expiresDate: Instant?
    /// What kind; nil where nothing was given back.
    public let kind: Kind?
    /// The part given back in thousandths of a percent, as Apple says it.
    public let percentage: Int64?
    /// Apple's reason: 0 other, 1 an issue with the app; nil where nothing was given back.
    public let reason: Int64?
    /// Where the revocation lies; nil where nothing was given back.
    public let timing: Timing?
    /// When Apple first signed that the customer asked.
    public let requested: Instant?
    /// When Apple first signed the refusal.
    public let declined: Instant?
    /// Apple's `revocationDate`.
    public let revoked: Instant?
    /// When Apple first signed the refund.
    public let announced: Instant?
    /// When Apple first signed that it is undone.
    public let reversed: Instant?
    /// How that came to light.
    public let reversal: Reversal?
    /// What became of it.
    public let state: State
    /// Whether it is the case that says how things stand now: the last refund of its purchase.
    public let isNet: Bool
    /// The price paid, in thousandths of the currency's unit; nil for family members.
    public let priceMilliunits: Int64?
    /// What is given back as things stand, in the same unit; nil where nothing ever was.
    public let refundedMilliunits: Int64?
    /// ISO 4217; nil for family members.
    public let currency: String?
}

extension SimulatedRefund: CustomStringConvertible {
    /// One line of everything but the currency.
    public var description: String {
        let instants = [requested, declined, revoked, announced, reversed]
            .map { $0?.description ?? "-" }
        let amounts = [percentage, reason, priceMilliunits, refundedMilliunits]
            .map { $0.map { String($0) } ?? "-" }
        return "\(purchaseDate) \(productId) \(state.rawValue) \(kind?.rawValue ?? "-")"
            + " \(timing?.rawValue ?? "-") \(instants.joined(separator: " "))"
            + " \(reversal?.rawValue ?? "-") \(amounts.joined(separator: " "))"
            + (isNet ? " net" : "")
    }
}

extension SubscriptionLife {
    /// The rows that `refunds` must have for the subscription once everything was delivered.
    ///
    /// One-time purchases are streams of their own; see `oneTimePurchases`.
    public var refundCases: [SimulatedRefund] { known?.refundCases ?? [] }

    /// The rows for somebody who knows what had happened by an instant, as in `periods(asOf:)`.
    public func refundCases(asOf instant: Instant) -> [SimulatedRefund] {
        known(asOf: instant)?.refundCases ?? []
    }
}
