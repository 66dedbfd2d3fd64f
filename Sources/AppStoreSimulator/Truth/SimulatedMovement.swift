public import Events
public import Projections

/// One expected row of `movements`: something that counts in the books of a business.
public struct SimulatedMovement: Hashable, Sendable {
    /// What moved; movements at the same instant are in this order.
    public typealias Kind = Movement.Kind

    /// What moved.
    public let kind: Kind
    /// When it happened.
    public let occurred: Instant
    /// The product; for a requested change, the requested one.
    public let productId: String
    /// The previous product, if another one replaces it.
    public let previousProductId: String?
    /// The start of the purchase it is about.
    public let purchaseDate: Instant
    /// The natural end of that purchase; nil if it has none.
    public let expiresDate: Instant?
    /// The amount charged, or refunded (negative), in thousandths of the currency's unit; 0 for
    /// members, nil if no money moved.
    public let amountMilliunits: Int64?
    /// Whether it is a purchase after a lapse.
    public let isResubscribe: Bool
}

extension SimulatedMovement: CustomStringConvertible {
    /// One line: when, what, products, start of the purchase, amount.
    public var description: String {
        "\(occurred) \(kind.rawValue) \(productId) \(previousProductId ?? "-")"
            + " \(purchaseDate) \(amountMilliunits.map { String($0) } ?? "-")"
            + (isResubscribe ? " again" : "")
    }
}
