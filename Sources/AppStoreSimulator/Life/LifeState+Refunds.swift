internal import Events

/// The story of the money given back for a purchase, told in cases.
extension LifeState {
    /// One request or refund of a purchase, and what became of it.
    struct Refund: Sendable {
        /// The number of the purchase.
        let purchase: Int
        /// When Apple signed that the customer asked.
        var requestedAt: Instant?
        /// When Apple signed that the customer does not get it.
        var declinedAt: Instant?
        /// What was given back.
        var revocation: Revocation?
        /// When Apple first signed that it was given back.
        var announcedAt: Instant?
        /// When Apple signed that it was undone.
        var reversedAt: Instant?
        /// Whether Apple said so unasked.
        var isReversalAnnounced = false

        /// Whether something may still become of it.
        var isOpen: Bool { declinedAt == nil && reversedAt == nil }
    }

    /// The place of the case of a purchase that is not closed.
    func openRefund(of purchase: Int) -> Int? {
        refunds.lastIndex { $0.purchase == purchase && $0.isOpen }
    }

    /// The customer asks.
    mutating func requestRefund(of purchase: Int, at instant: Instant) {
        guard openRefund(of: purchase) == nil else { return }
        refunds.append(Refund(purchase: purchase, requestedAt: instant))
    }

    /// The customer does not get it.
    mutating func declineRefund(of purchase: Int, at instant: Instant) {
        if let open = openRefund(of: purchase) { refunds[open].declinedAt = instant }
    }

    /// The customer, or the family's purchaser, gets it.
    mutating func grantRefund(
        of purchase: Int,
        _ revocation: Revocation,
        at instant: Instant
    ) {
        if openRefund(of: purchase) == nil { refunds.append(Refund(purchase: purchase)) }
        guard let open = openRefund(of: purchase) else { return }
        refunds[open].revocation = revocation
        refunds[open].announcedAt = instant
    }

    /// It is undone.
    mutating func endRefund(of purchase: Int, at instant: Instant, isAnnounced: Bool) {
        guard let open = openRefund(of: purchase) else { return }
        refunds[open].reversedAt = instant
        refunds[open].isReversalAnnounced = isAnnounced
    }
}
