public import Events

extension Refunds {
    /// The cases as they were at an instant of Apple's clock: what was requested, refunded and
    /// reversed by then, by everything known now; cases that had not begun are left out.
    public func rows(asOf instant: Instant) -> [RefundCase] {
        rows.compactMap { $0.standing(at: instant) }.withNetMarked
    }
}

extension RefundCase {
    private func refundedMilliunits(isReversed: Bool) -> Int64? {
        isReversed && kind?.isWithoutMoney != true ? 0 : givenMilliunits
    }

    // Nil if nothing of it had happened.
    fileprivate func standing(at instant: Instant) -> RefundCase? {
        func happened(_ date: Instant?) -> Instant? { date.flatMap { $0 <= instant ? $0 : nil } }
        let (asked, refused) = (happened(requested), happened(declined))
        // The date of a refund may be after its announcement, and either may be missing.
        let isGiven = kind != nil && (happened(refunded) ?? happened(announced)) != nil
        let undone = isGiven ? happened(reversed) : nil
        // If only the reversal of a refund is known, nothing says when the refund began.
        let isOnlyReversed = kind != nil && refunded == nil && happened(reversed) != nil
        guard isGiven || isOnlyReversed || asked != nil || refused != nil else { return nil }

        let holds = isGiven || isOnlyReversed
        let isReversed = undone != nil || isOnlyReversed
        let inForce: State = kind?.isWithoutMoney == true ? .revoked : .refunded
        let state: State =
            isReversed ? .reversed : holds ? inForce : refused != nil ? .declined : .requested

        return RefundCase(
            stream: stream,
            productId: productId,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            kind: holds ? kind : nil,
            percentageMilli: holds ? percentageMilli : nil,
            seatQuantity: holds ? seatQuantity : nil,
            reason: holds ? reason : nil,
            timing: holds ? timing : nil,
            requested: asked,
            requestReason: asked == nil ? nil : requestReason,
            declined: refused,
            revoked: holds ? happened(revoked) : nil,
            announced: happened(announced),
            reversed: isReversed ? reversed : nil,
            reversal: isReversed ? reversal : nil,
            state: state,
            isNet: isNet,
            priceMilliunits: priceMilliunits,
            givenMilliunits: holds ? givenMilliunits : nil,
            refundedMilliunits: holds ? refundedMilliunits(isReversed: isReversed) : nil,
            currency: currency,
            positions: positions,
            subject: subject
        )
    }
}
