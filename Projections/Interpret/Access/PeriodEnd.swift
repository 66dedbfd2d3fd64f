internal import Events

/// Where and why one purchase, or the grace after it, stops giving access.
struct PeriodEnd {
    /// The first instant without access.
    let validTo: Instant
    /// Why; nil if the period ends naturally, or has not ended yet.
    let reason: ActivePeriod.EndReason?
    /// Whether it is the natural end, so a grace period may follow.
    let isNatural: Bool
    /// The times before it without access because of a refund, if the policy does not undo them:
    /// ascending, each with access after it.
    let suspensions: [Suspension]
}

extension PeriodEnd {
    /// The end of one of these purchases, given its cut.
    ///
    /// If Apple signed several revocation dates for a purchase, the earliest counts: a later date
    /// does not restore days that were refunded; only a reversal does. A refunded successor cuts
    /// too: an upgraded period is never revived (Apple's data: trap 27). A revocation ends the
    /// access from its date on, and changes nothing at or after the end. A reversed one has no
    /// effect or, under another policy, restores the access from the reversal on; after the end
    /// there is nothing to restore. Under a policy that looks back, a refunded purchase gave no
    /// access at all.
    init(
        of purchase: Purchase,
        among purchases: [Purchase],
        cut: Cut?,
        under policy: AccessPolicy,
        citing citations: inout Citations
    ) {
        self = PeriodEnd(
            asTold: purchase,
            among: purchases,
            cut: cut,
            isLookingBack: policy.refundIsRetroactive,
            citing: &citations
        )
        .suspended(by: purchase.periodSuspensions, under: policy, citing: &citations)
    }

    /// The same without the access of the times in which the purchase was revoked, if the policy
    /// does not undo them.
    func suspended(
        by suspensions: @autoclosure () -> [Suspension],
        under policy: AccessPolicy,
        citing citations: inout Citations
    ) -> PeriodEnd {
        guard !policy.reversalIsRetroactive else { return self }
        let refunds = suspensions().lookingBack(policy.refundIsRetroactive)
        var suspensions = refunds.filter { $0.from < validTo }
        guard let last = suspensions.last, last.to >= validTo else {
            return PeriodEnd(
                validTo: validTo,
                reason: reason,
                isNatural: isNatural,
                suspensions: suspensions
            )
        }
        suspensions.removeLast()
        citations.cite(last.citations)
        return PeriodEnd(
            validTo: last.from,
            reason: last.reason,
            isNatural: false,
            suspensions: suspensions
        )
    }

    private init(
        asTold purchase: Purchase,
        among purchases: [Purchase],
        cut: Cut?,
        isLookingBack: Bool,
        citing citations: inout Citations
    ) {
        let isUpgraded = purchase.isPeriodUpgraded(citing: &citations)
        let cut = cut ?? (isUpgraded ? purchase.upgradeMarkCut(citing: &citations) : nil)
        let revocation = purchase.periodRevocation(citing: &citations)
        let end = cut?.at ?? purchase.expiresDate
        let isReplaced = cut.map { cut in revocation.map(cut.isReplacement) ?? false } ?? false
        let isRevokedBefore = !isReplaced && revocation.map { $0.date < end } ?? false
        if let successor = cut?.successor, !isRevokedBefore {
            citations.cite(purchases[successor].firstOffset)
        }

        suspensions = []
        if isLookingBack, let revocation, !isReplaced, revocation.reason == .refunded {
            (validTo, reason, isNatural) = (purchase.purchaseDate, .refunded, false)
            return
        }
        validTo = max(purchase.purchaseDate, isRevokedBefore ? revocation?.date ?? end : end)
        isNatural = cut == nil && !isRevokedBefore && !isUpgraded
        if isUpgraded {
            reason = .upgraded
        } else if isRevokedBefore {
            reason = revocation?.reason
        } else if let successor = cut?.successor {
            let isOther = byBytes(purchases[successor].productId, purchase.productId) != nil
            reason = isOther ? .upgraded : .replaced
        } else {
            reason = nil
        }
    }
}

extension Purchase {
    fileprivate func upgradeMarkCut(citing citations: inout Citations) -> Cut? {
        let marks = transactions.compactMap(\.firstUpgradeMark)
        guard let mark = marks.min(by: { $0.asOf < $1.asOf }), mark.asOf < expiresDate else {
            return nil
        }
        citations.cite(mark.offset)
        return Cut(at: mark.asOf, successor: nil)
    }

    /// The terms of the purchase (`offerType`, Apple's data: transactions).
    func kind(citing citations: inout Citations) -> ActivePeriod.Kind {
        guard let offerType = integer(.offerType, citing: &citations) else { return .paid }
        guard offerType == 1 else { return .offer }
        return isFreeTrial(citing: &citations) ? .trial : .intro
    }

    /// Whether it is free for a time by an offer, of whatever kind: introductory, promotional, by a
    /// code, or to win a customer back.
    func isFreeTrial(citing citations: inout Citations) -> Bool {
        if let discount = text(.offerDiscountType, citing: &citations) {
            return discount == "FREE_TRIAL"
        }
        // Payloads from before 2023-10 do not state how an offer is paid.
        return integer(.offerType, citing: &citations) != nil
            && integer(.price, citing: &citations) == 0
    }
}
