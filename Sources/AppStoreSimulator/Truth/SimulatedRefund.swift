package import Events
package import Projections

/// One expected row of `refunds`: a request for a refund, or a refund.
package struct SimulatedRefund: Hashable, Sendable {
    /// The kind of refund, as far as Apple states it.
    package typealias Kind = RefundCase.Kind

    /// When the revocation happened, relative to the purchase.
    package typealias Timing = RefundCase.Timing

    /// The outcome of the case.
    package typealias State = RefundCase.State

    /// How a reversal became known.
    package typealias Reversal = RefundCase.Reversal

    /// The product.
    package let productId: String
    /// The start of the purchase.
    package let purchaseDate: Instant
    /// Its natural end; nil for a purchase that has none.
    package let expiresDate: Instant?
    /// The kind; nil if nothing was refunded.
    package let kind: Kind?
    /// The refunded part in thousandths of a percent, as Apple states it.
    package let percentage: Int64?
    /// Apple's reason: 0 other, 1 an issue with the app; nil if nothing was refunded.
    package let reason: Int64?
    /// When the revocation happened; nil if nothing was refunded.
    package let timing: Timing?
    /// When Apple first signed the customer's request.
    package let requested: Instant?
    /// When Apple first signed that it was declined.
    package let declined: Instant?
    /// Apple's `revocationDate`.
    package let revoked: Instant?
    /// When Apple first signed the refund.
    package let announced: Instant?
    /// When Apple first signed the reversal.
    package let reversed: Instant?
    /// How the reversal became known.
    package let reversal: Reversal?
    /// The outcome.
    package let state: State
    /// Whether this case determines the current state of its transaction: each refund in force,
    /// otherwise the last one.
    package let isNet: Bool
    /// The price paid, in thousandths of the currency's unit; nil for members.
    package let priceMilliunits: Int64?
    /// The seats that were taken back; nil for the whole transaction.
    package let seats: Int64?
    /// The amount currently refunded, in the same unit; nil if no money ever was.
    package let refundedMilliunits: Int64?
    /// ISO 4217; nil for members.
    package let currency: String?
}

extension SimulatedRefund: CustomStringConvertible {
    /// One line with everything except the currency.
    package var description: String {
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
