package import Events

/// What a customer paid or got back, as a label of a picture.
package struct Payment {
    /// When.
    package let at: Instant
    /// Whether it was paid, and not given back.
    package let isCharge: Bool
    /// The amount, in milliunits; more than 0.
    package let milliunits: Int64
    /// Its currency; nil if Apple did not state it.
    package let currency: String?
    /// Whether the refund was reversed later.
    let isReversed: Bool

    /// The amount with its sign, without its currency.
    ///
    /// - Parameters:
    ///   - minus: The sign of what was given back.
    ///   - reversed: The mark of a refund that was reversed later.
    /// - Returns: The text.
    package func text(minus: String, reversed: String) -> String {
        let number = CurrencyAmount(milliunits, currency).number
        return isCharge ? "+" + number : minus + number + (isReversed ? " " + reversed : "")
    }

    /// Whether one comes before another: by date, and then in any fixed order.
    package static func areInOrder(_ left: Payment, _ right: Payment) -> Bool {
        if left.at != right.at { return left.at < right.at }
        func text(_ payment: Payment) -> String { payment.text(minus: "-", reversed: "R") }
        return byBytes(text(left), text(right)) ?? false
    }
}

extension Timeline {
    /// What was paid and refunded, without the amounts of family members, which the customer did
    /// not pay (Apple's data: trap 33).
    package var payments: [Payment] {
        let charges = purchases.flatMap(\.transactions).compactMap { purchase -> Payment? in
            var citations = Citations()
            guard purchase.sharing == nil, let price = purchase.amount(citing: &citations),
                price > 0
            else { return nil }
            return Payment(
                at: purchase.purchaseDate,
                isCharge: true,
                milliunits: price,
                currency: purchase.text(.currency, citing: &citations),
                isReversed: false
            )
        }
        let refunds = Refunds(self).rows.compactMap { refund -> Payment? in
            guard refund.expiresDate != nil, let revoked = refund.refunded,
                let given = refund.givenMilliunits, given > 0
            else { return nil }
            return Payment(
                at: revoked,
                isCharge: false,
                milliunits: given,
                currency: refund.currency,
                isReversed: refund.reversed != nil
            )
        }
        return charges + refunds
    }

    /// When auto-renewal was turned on or off, as Apple stated it; the first setting, too.
    package var autoRenewChanges: [(asOf: Instant, isOn: Bool)] {
        var changes: [(asOf: Instant, isOn: Bool)] = []
        for snapshot in renewalSnapshots {
            guard let status = snapshot.autoRenewStatus, changes.last?.isOn != (status != 0)
            else { continue }
            changes.append((snapshot.asOf, status != 0))
        }
        return changes
    }
}
