internal import Events

/// Which purchases continue a subscription, and which start it again.
///
/// A renewal, a recovery from billing retry and a change of plan carry it on; a purchase after a
/// lapse starts it again, under the same id (Apple's data: traps 2, 16). Rests on `active_periods`
/// and `renewal_states`, which must not rest on it.
struct Continuity {
    /// How late a renewal may begin if no field classifies it, in milliseconds: two minutes.
    ///
    /// The sandbox runs renewals a little after the expiry (Apple's data: trap 16).
    static let renewalDelayMax: Int64 = 120_000

    /// For each purchase, the end of the last access that began before it; nil where none did.
    let accessEnds: [Instant?]
    /// For each purchase, whether it carries on what was before.
    let isContinuing: [Bool]
    /// The end of all access; nil where there was none.
    let lastAccessEnd: Instant?

    /// What the rows of `active_periods` and the purchases of a timeline say.
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

    /// Which purchases carry the subscription on.
    var continuity: Continuity {
        once(Timeline.continuityKey) { Continuity(self) }
    }

    fileprivate func isContinuing(_ index: Int, after accessEnd: Instant?) -> Bool {
        let purchase = purchases[index]
        if let accessEnd, index > 0, accessEnd >= purchase.purchaseDate { return true }
        if case .value(.text(let reason)) = purchase.state(of: .transactionReason) {
            return reason == "RENEWAL" || changesPlanInRetry(index)
        }
        guard index > 0, let accessEnd else { return false }
        let gap = purchase.purchaseDate.milliseconds - accessEnd.milliseconds
        if gap <= Continuity.renewalDelayMax { return true }
        // Only a renewal begins in the very second in which the period before it naturally ends,
        // also where that one was refunded (Apple's data: trap 14).
        if purchases[index - 1].expiresDate == purchase.purchaseDate { return true }
        // Only asked where nothing else tells: by then payloads have no reason and leave a gap.
        return isRetried(before: purchase)
    }

    // Who buys another product while Apple still retries the charge has cancelled nothing: Apple
    // counts "Upgrade from Billing Retry", and a reactivation only after a cancellation
    // (https://developer.apple.com/help/app-store-connect/reference/subscription-events).
    private func changesPlanInRetry(_ index: Int) -> Bool {
        guard index > 0, !purchases[index - 1].productId.isEmpty,
            byBytes(purchases[index - 1].productId, purchases[index].productId) != nil
        else { return false }
        return isRetried(before: purchases[index])
    }

    private func isRetried(before purchase: Purchase) -> Bool {
        let before = Instant(milliseconds: purchase.purchaseDate.milliseconds - 1)
        return RenewalStates(self).state(at: before)?.status == .billingRetry
    }
}
