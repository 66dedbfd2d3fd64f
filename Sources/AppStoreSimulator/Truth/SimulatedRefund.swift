public import Events

/// One expected row of `refunds`: a request for a refund, or a refund.
public struct SimulatedRefund: Hashable, Sendable {
    /// The kind of refund, as far as Apple states it.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The whole price.
        case full
        /// A part of the price.
        case prorated
        /// Family sharing withdrawn: no money.
        case familyRevoke = "family_revoke"
        /// Some of the seats of a transaction, which stays valid.
        case seats
        /// The customer moved to a bundle: no refund.
        case bundled
        /// A seat taken from its member: no money.
        case assignmentEnded = "assignment_ended"
        /// Known only from payloads made before Apple stated the kind (2025-12).
        case untyped
    }

    /// When the revocation happened, relative to the purchase.
    public enum Timing: String, CaseIterable, Hashable, Sendable {
        /// While the purchase gave access.
        case current
        /// After that, while another purchase gave access.
        case older
        /// After that, without any access.
        case afterExpiry = "after_expiry"
    }

    /// The outcome of the case.
    public enum State: String, CaseIterable, Hashable, Sendable {
        /// Requested.
        case requested
        /// Requested and declined.
        case declined
        /// Refunded.
        case refunded
        /// Taken back without money: somebody else paid, or it continues in a bundle.
        case revoked
        /// Refunded and reversed.
        case reversed
    }

    /// How a reversal became known.
    public enum Reversal: String, CaseIterable, Hashable, Sendable {
        /// Apple announced it.
        case announced
        /// A later statement contains no refund (Apple's data: trap 31).
        case inferred
    }

    /// The product.
    public let productId: String
    /// The start of the purchase.
    public let purchaseDate: Instant
    /// Its natural end; nil for a purchase that has none.
    public let expiresDate: Instant?
    /// The kind; nil if nothing was refunded.
    public let kind: Kind?
    /// The refunded part in thousandths of a percent, as Apple states it.
    public let percentage: Int64?
    /// Apple's reason: 0 other, 1 an issue with the app; nil if nothing was refunded.
    public let reason: Int64?
    /// When the revocation happened; nil if nothing was refunded.
    public let timing: Timing?
    /// When Apple first signed the customer's request.
    public let requested: Instant?
    /// When Apple first signed that it was declined.
    public let declined: Instant?
    /// Apple's `revocationDate`.
    public let revoked: Instant?
    /// When Apple first signed the refund.
    public let announced: Instant?
    /// When Apple first signed the reversal.
    public let reversed: Instant?
    /// How the reversal became known.
    public let reversal: Reversal?
    /// The outcome.
    public let state: State
    /// Whether this case determines the current state of its transaction: each refund in force,
    /// otherwise the last one.
    public let isNet: Bool
    /// The price paid, in thousandths of the currency's unit; nil for members.
    public let priceMilliunits: Int64?
    /// The seats that were taken back; nil for the whole transaction.
    public let seats: Int64?
    /// The amount currently refunded, in the same unit; nil if no money ever was.
    public let refundedMilliunits: Int64?
    /// ISO 4217; nil for members.
    public let currency: String?
}

extension SimulatedRefund: CustomStringConvertible {
    /// One line with everything except the currency.
    public var description: String {
        let instants = [requested, declined, revoked, announced, reversed]
            .map { $0?.description ?? "-" }
        let amounts = [percentage, reason, priceMilliunits, refundedMilliunits]
            .map { $0.map { String($0) } ?? "-" }
        return "\(purchaseDate) \(productId) \(state.rawValue) \(kind?.rawValue ?? "-")"
            + " \(timing?.rawValue ?? "-") \(instants.joined(separator: " "))"
            + " \(reversal?.rawValue ?? "-") \(amounts.joined(separator: " "))"
            + (isNet ? " net" : "") + (seats.map { " \($0) seats" } ?? "")
    }
}

extension SubscriptionLife {
    /// The rows that `refunds` must have for the subscription once everything was delivered.
    ///
    /// One-time purchases are separate streams; see `oneTimePurchases`.
    public var refundCases: [SimulatedRefund] { known?.refundCases ?? [] }

    /// The rows for a reader who knows what had happened by an instant, as in `periods(asOf:)`.
    public func refundCases(asOf instant: Instant) -> [SimulatedRefund] {
        known(asOf: instant)?.refundCases ?? []
    }
}
