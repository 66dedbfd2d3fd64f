internal import Events

/// The probable refund for a period that another one replaced at once.
///
/// Apple refunds the rest of the period and signs no amount: a version 2 transaction is only marked
/// `isUpgraded`. The estimate takes the share of time that was left, by milliseconds; how Apple
/// rounds is not documented
/// (https://developer.apple.com/documentation/storekit/handling-subscriptions-billing).
struct RefundEstimate {
    let milliunits: Int64
    let currency: String?

    /// Nil if nothing is refunded, if the price is not known, or if Apple signed a partial refund.
    init?(of purchase: Purchase, replacedAt instant: Instant, citing citations: inout Citations) {
        var sum: Int64 = 0
        for transaction in purchase.transactions {
            guard
                let rest = transaction.rest(
                    at: instant,
                    until: purchase.expiresDate,
                    citing: &citations
                )
            else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(rest)
            if overflow { return nil }
            sum = total
        }
        milliunits = sum
        currency = purchase.text(.currency, citing: &citations)
    }
}

extension Purchase {
    // What the time left is worth, without seats that were already refunded.
    fileprivate func rest(
        at instant: Instant,
        until end: Instant,
        citing citations: inout Citations
    ) -> Int64? {
        let length = end.milliseconds - purchaseDate.milliseconds
        let rest = end.milliseconds - instant.milliseconds
        guard length > 0, rest > 0, rest <= length, sharing == nil,
            state(of: .revocationType) <= .none, state(of: .revocationPercentage) <= .none,
            let amount = amount(citing: &citations), amount >= 0
        else { return nil }
        let kept = amount - (seats?.part(of: amount, for: seats?.revokedQuantity ?? 0) ?? 0)
        // In full width, because a price times a time may not fit into 64 bits. Half is rounded up.
        let product = UInt64(max(0, kept)).multipliedFullWidth(by: UInt64(rest))
        let (share, left) = UInt64(length).dividingFullWidth(product)
        return Int64(share) + (left >= UInt64(length) - left ? 1 : 0)
    }
}
