package import Events
package import Projections

/// One expected row of `movements`: something that counts in the books of a business.
package struct SimulatedMovement: Hashable, Sendable {
    /// What moved; movements at the same instant are in this order.
    package typealias Kind = Movement.Kind

    /// What moved.
    package let kind: Kind
    /// When it happened.
    package let occurred: Instant
    /// The product; for a requested change, the requested one.
    package let productId: String
    /// The previous product, if another one replaces it.
    package let previousProductId: String?
    /// The start of the purchase it is about.
    package let purchaseDate: Instant
    /// The natural end of that purchase; nil if it has none.
    package let expiresDate: Instant?
    /// The amount charged, or refunded (negative), in thousandths of the currency's unit; 0 for
    /// members, nil if no money moved.
    package let amountMilliunits: Int64?
    /// Whether it is a purchase after a lapse.
    package let isResubscribe: Bool
}

extension SimulatedMovement: CustomStringConvertible {
    /// One line: when, what, products, start of the purchase, amount.
    package var description: String {
        "\(occurred) \(kind.rawValue) \(productId) \(previousProductId ?? "-")"
            + " \(purchaseDate) \(amountMilliunits.map { String($0) } ?? "-")"
            + (isResubscribe ? " again" : "")
    }
}
