internal import Events

/// The refunds of a purchase, as cases.
extension LifeState {
    /// One request or refund of a purchase, and its outcome.
    struct Refund: Sendable {
        /// The number of the purchase.
        let purchase: Int
        /// The number of the addition that was refunded; nil for the purchase itself.
        var addition: Int?
        /// The seats that were taken back; nil for the whole transaction.
        var seats: Int64?
        /// The seats of the transaction that had been taken back before.
        var seatsBefore: Int64 = 0
        /// When Apple signed the customer's request.
        var requestedAt: Instant?
        /// When Apple signed that the request was declined.
        var declinedAt: Instant?
        /// The refund.
        var revocation: Revocation?
        /// When Apple first signed the refund.
        var announcedAt: Instant?
        /// When Apple signed the reversal.
        var reversedAt: Instant?
        /// Whether Apple announced the reversal unasked.
        var isReversalAnnounced = false

        /// Whether the case is still open.
        var isOpen: Bool { declinedAt == nil && reversedAt == nil }
    }

    /// The index of the open case of a purchase.
    func openRefund(of purchase: Int) -> Int? {
        refunds.lastIndex {
            $0.purchase == purchase && $0.addition == nil && $0.seats == nil && $0.isOpen
        }
    }

    /// The customer requests a refund.
    mutating func requestRefund(of purchase: Int, at instant: Instant) {
        guard openRefund(of: purchase) == nil else { return }
        refunds.append(Refund(purchase: purchase, requestedAt: instant))
    }

    /// The request is declined.
    mutating func declineRefund(of purchase: Int, at instant: Instant) {
        if let open = openRefund(of: purchase) { refunds[open].declinedAt = instant }
    }

    /// The customer, or the family's purchaser, gets the refund.
    mutating func grantRefund(
        of purchase: Int,
        _ revocation: Revocation,
        seatsBefore: Int64 = 0,
        at instant: Instant
    ) {
        if openRefund(of: purchase) == nil { refunds.append(Refund(purchase: purchase)) }
        guard let open = openRefund(of: purchase) else { return }
        refunds[open].revocation = revocation
        refunds[open].announcedAt = instant
        refunds[open].seatsBefore = seatsBefore
    }

    /// The refund is reversed.
    mutating func endRefund(of purchase: Int, at instant: Instant, isAnnounced: Bool) {
        guard let open = openRefund(of: purchase) else { return }
        refunds[open].reversedAt = instant
        refunds[open].isReversalAnnounced = isAnnounced
    }
}
