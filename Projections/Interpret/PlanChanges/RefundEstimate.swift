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
        let length = purchase.expiresDate.milliseconds - purchase.purchaseDate.milliseconds
        let rest = purchase.expiresDate.milliseconds - instant.milliseconds
        guard length > 0, rest > 0, rest <= length, !purchase.isFamilyShared,
            purchase.state(of: .revocationType) <= .none,
            purchase.state(of: .revocationPercentage) <= .none,
            let price = purchase.integer(.price, citing: &citations), price >= 0
        else { return nil }
        // In full width, because a price times a time may not fit into 64 bits. Half is rounded up.
        let product = UInt64(price).multipliedFullWidth(by: UInt64(rest))
        let (share, left) = UInt64(length).dividingFullWidth(product)
        milliunits = Int64(share) + (left >= UInt64(length) - left ? 1 : 0)
        currency = purchase.text(.currency, citing: &citations)
    }
}
