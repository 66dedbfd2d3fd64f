/// Seats that a group or an organisation buys (Apple's data: seats).
package struct SimulatedSeats: Hashable, Sendable {
    /// The number of seats, from 1.
    package let quantity: Int64
    /// Who manages the members.
    package let invitations: Invitations

    /// Who manages the members; the raw values are Apple's `invitationManagement`.
    package enum Invitations: String, CaseIterable, Hashable, Sendable {
        /// Apple: each member gets a separate transaction.
        case apple = "APPLE"
        /// The developer: members get none.
        case developer = "DEVELOPER"
    }

    /// A number of seats.
    package init(_ quantity: Int64, invitations: Invitations = .apple) {
        self.quantity = quantity
        self.invitations = invitations
    }

    /// The most seats of a life: more than all tiers need.
    package static let quantityMax: Int64 = 1000
}

/// Seats at one price (`MultiSeatPriceTier`).
package struct SimulatedSeatTier: Hashable, Sendable {
    /// The price of one seat, in thousandths of the currency's unit.
    package let price: Int64
    /// The number of seats at that price.
    package let quantity: Int64
}

extension [SimulatedSeatTier] {
    /// The price of all seats.
    var total: Int64 { reduce(0) { $0 + $1.price * $1.quantity } }

    /// The number of seats.
    var quantity: Int64 { reduce(0) { $0 + $1.quantity } }

    /// The average price of a seat, rounded down: what Apple states as `price`.
    var average: Int64 { isEmpty ? 0 : total / quantity }
}

extension SimulatedStorefront {
    // Up to which seat a price holds, in percent of the product's: the fifth and the tenth are
    // cheaper.
    private static let bands: [(last: Int64, percent: Int64)] = [
        (4, 100), (9, 90), (.max, 80),
    ]

    /// The prices of seats, after those that were bought before, for a part of the period.
    func seatTiers(
        of product: SimulatedProduct,
        _ quantity: Int64,
        after bought: Int64 = 0,
        percent: Int64 = 100
    ) -> [SimulatedSeatTier] {
        let full = price(of: product, offer: nil)
        var tiers: [SimulatedSeatTier] = []
        var first = bought
        for band in Self.bands where first < bought + quantity && first < band.last {
            let last = min(band.last, bought + quantity)
            tiers.append(
                SimulatedSeatTier(
                    price: whole(full * band.percent / 100 * percent / 100),
                    quantity: last - first
                )
            )
            first = last
        }
        return tiers
    }
}

/// A bundle, or a suite, whose parts are subscriptions of their own (Apple's data: bundles).
package struct SimulatedBundle: Hashable, Sendable {
    /// Apple's product identifier of the bundle.
    package let productId: String
    /// The subscription group of the bundle.
    package let group: String
    /// Apple's id of the subscription to the bundle.
    package let originalTransactionId: String

    /// The id of the bundle's transaction with that number.
    func transactionId(_ number: Int64) -> String {
        Int64(originalTransactionId).map { String($0 + number) } ?? originalTransactionId
    }
}
