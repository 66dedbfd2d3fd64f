public import Events
public import Projections

/// One expected row of `refunds`: a request for a refund, or a refund.
public struct SimulatedRefund: Hashable, Sendable {
    /// The kind of refund, as far as Apple states it.
    public typealias Kind = RefundCase.Kind

    /// When the revocation happened, relative to the purchase.
    public typealias Timing = RefundCase.Timing

    /// The outcome of the case.
    public typealias State = RefundCase.State

    /// How a reversal became known.
    public typealias Reversal = RefundCase.Reversal

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
