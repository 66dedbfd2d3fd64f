internal import Events

/// The transactions that represent the seats of a period.
extension LifeState {
    /// The seats of one transaction.
    struct Seats: Sendable {
        let tiers: [SimulatedSeatTier]
        let invitations: SimulatedSeats.Invitations
        /// Seats that were refunded one by one, while the transaction stays valid.
        var revoked: Int64 = 0

        init(tiers: [SimulatedSeatTier], of seats: SimulatedSeats?) {
            self.tiers = tiers
            invitations = seats?.invitations ?? .apple
        }

        /// The price of seats that are taken back: their share of what was paid, rounded.
        func amount(of quantity: Int64) -> Int64 {
            (tiers.total * quantity + tiers.quantity / 2) / tiers.quantity
        }
    }

    /// Seats added to a period that runs: a further transaction of it.
    struct Addition: Sendable {
        /// The number of the purchase whose period it belongs to.
        let period: Int
        /// The transaction, except for its end, which is that of the period.
        var purchase: Purchase
    }

    /// The numbers of the additions to a period.
    func additions(to period: Int) -> [Int] {
        additions.indices.filter { additions[$0].period == period }
    }

    /// An addition as a transaction: it ends with its period.
    func purchase(of addition: Addition) -> Purchase {
        let period = purchases[addition.period]
        var purchase = addition.purchase
        (purchase.expiresDate, purchase.successor) = (period.expiresDate, period.successor)
        return purchase
    }

    /// A purchase, or an addition to it if a number of one is given.
    func transaction(_ number: Int, addition: Int?) -> Purchase {
        addition.map { purchase(of: additions[$0]) } ?? purchases[number]
    }

    /// Whether a period is represented by several transactions.
    func hasAdditions(_ purchase: Purchase) -> Bool {
        additions.contains {
            purchases[$0.period].lineItemNumber == purchase.lineItemNumber
                || $0.purchase.lineItemNumber == purchase.lineItemNumber
        }
    }

    /// What ended a period: the last revocation, if each of its transactions was revoked.
    func revocation(ofPeriod number: Int) -> Revocation? {
        guard var last = purchases[number].revocation else { return nil }
        for addition in additions(to: number) {
            guard let revocation = additions[addition].purchase.revocation else { return nil }
            if revocation.date > last.date { last = revocation }
        }
        return last
    }

    /// The seats of a period that were neither refunded nor revoked.
    func seatCount(ofPeriod number: Int) -> Int64 {
        let transactions =
            [purchases[number]] + additions(to: number).map { purchase(of: additions[$0]) }
        return transactions.reduce(0) { sum, transaction in
            guard transaction.revocation == nil, let seats = transaction.seats else { return sum }
            return sum + seats.tiers.quantity - seats.revoked
        }
    }

    /// The seats that the newest purchase still has; nil if it is for one customer.
    var seatsNow: SimulatedSeats? {
        newest?.seats.map {
            SimulatedSeats(
                max(1, seatCount(ofPeriod: purchases.count - 1)),
                invitations: $0.invitations
            )
        }
    }

    /// Marks all transactions of a period as upgraded, or not.
    mutating func markUpgraded(_ number: Int, _ isUpgraded: Bool, at instant: Instant) {
        purchases[number].isUpgraded = isUpgraded
        purchases[number].modifiedAt = instant
        for addition in additions(to: number) {
            additions[addition].purchase.isUpgraded = isUpgraded
            additions[addition].purchase.modifiedAt = instant
        }
    }
}
