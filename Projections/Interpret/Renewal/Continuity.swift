internal import Events

/// Which purchases continue a subscription, and which restart it.
///
/// A renewal, a recovery from billing retry and a change of plan continue it; a purchase after a
/// lapse restarts it, under the same id (Apple's data: traps 2, 16). Depends on `active_periods`
/// and `renewal_states`, which must not depend on it.
struct Continuity {
    /// The longest delay of a renewal that no field classifies, in milliseconds: two minutes.
    ///
    /// The sandbox runs renewals a little after the expiry (Apple's data: trap 16).
    static let renewalDelayMax: Int64 = 120_000

    /// For each purchase, the end of the last access that began before it; nil if there was none.
    let accessEnds: [Instant?]
    /// For each purchase, whether it continues the subscription.
    let isContinuing: [Bool]
    /// The end of all access; nil if there was none.
    let lastAccessEnd: Instant?

    /// The continuity of a timeline, from its rows of `active_periods` and its purchases.
    init(_ timeline: Timeline) {
        let periods = ActivePeriods(timeline)
        var accessEnds: [Instant?] = []
        accessEnds.reserveCapacity(timeline.purchases.count)
        var row = periods.rows.startIndex
        var end: Instant?
        // Rows and purchases are both by start.
        for purchase in timeline.purchases {
            while row < periods.rows.endIndex,
                periods.rows[row].validFrom < purchase.purchaseDate
            {
                end = max(end ?? periods.rows[row].validTo, periods.rows[row].validTo)
                row += 1
            }
            accessEnds.append(end)
        }
        self.accessEnds = accessEnds
        lastAccessEnd = periods.rows[row...].reduce(end) { max($0 ?? $1.validTo, $1.validTo) }
        isContinuing = timeline.purchases.indices.map { index in
            timeline.isContinuing(index, after: accessEnds[index])
        }
    }
}

extension Timeline {
    private static let continuityKey = FoldMemo.Key<Continuity>()

    /// Which purchases continue the subscription.
    var continuity: Continuity {
        once(Timeline.continuityKey) { Continuity(self) }
    }

    fileprivate func isContinuing(_ index: Int, after accessEnd: Instant?) -> Bool {
        let purchase = purchases[index]
        if succession.isFirst(index), purchase.continuation(Continuation.continues) != nil {
            return true
        }
        let before = succession.predecessor(of: index).map { purchases[$0] }
        if let accessEnd, before != nil, accessEnd >= purchase.purchaseDate { return true }
        if case .value(.text(let reason)) = purchase.state(of: .transactionReason) {
            return reason == "RENEWAL" || changesPlanInRetry(purchase, after: before)
        }
        guard let before, let accessEnd else { return false }
        let gap = purchase.purchaseDate.milliseconds - accessEnd.milliseconds
        if gap <= Continuity.renewalDelayMax { return true }
        // Only a renewal begins in the very second in which the previous period naturally ends,
        // even if that one was refunded (Apple's data: trap 14).
        if before.expiresDate == purchase.purchaseDate { return true }
        // Checked last, so only for payloads that state no reason and leave a gap.
        return isRetried(before: purchase)
    }

    // A customer who buys another product while Apple still retries the charge has not cancelled:
    // Apple counts "Upgrade from Billing Retry", and a reactivation only after a cancellation
    // (https://developer.apple.com/help/app-store-connect/reference/subscription-events).
    private func changesPlanInRetry(_ purchase: Purchase, after before: Purchase?) -> Bool {
        guard let before, !before.productId.isEmpty,
            byBytes(before.productId, purchase.productId) != nil
        else { return false }
        return isRetried(before: purchase)
    }

    private func isRetried(before purchase: Purchase) -> Bool {
        let before = Instant(milliseconds: purchase.purchaseDate.milliseconds - 1)
        return RenewalStates(self).state(at: before)?.status == .billingRetry
    }
}
