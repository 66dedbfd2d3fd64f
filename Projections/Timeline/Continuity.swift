internal import Events

/// Which purchases carry a subscription on, and which begin it anew.
///
/// A renewal, a recovery from billing retry and a change of plan carry it on; a purchase after a
/// lapse begins it anew, under the same id (app-store.md §G-2, §G-16).
struct Continuity {
    /// How late a renewal may begin where nobody says what it was, in milliseconds: two minutes.
    ///
    /// The sandbox runs renewals a little after the expiry (app-store.md §G-16).
    static let renewalDelayMax: Int64 = 120_000

    /// How long Apple retries a charge, in milliseconds: 60 days (app-store.md §G-18).
    static let billingRetryMax: Int64 = 60 * 86_400_000

    /// How long before an expiry the first charge may fail, in milliseconds: a day (§G-18).
    static let firstChargeLead: Int64 = 86_400_000

    /// For each purchase, the end of the last access that began before it; nil where none did.
    let accessEnds: [Instant?]
    /// For each purchase, whether it carries on what was before.
    let isContinuing: [Bool]
    /// The end of all access; nil where there was none.
    let lastAccessEnd: Instant?

    /// What the rows of `active_periods` and the purchases of a timeline say.
    init(_ timeline: Timeline, _ periods: ActivePeriods) {
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
    fileprivate func isContinuing(_ index: Int, after accessEnd: Instant?) -> Bool {
        let purchase = purchases[index]
        if let accessEnd, index > 0, accessEnd >= purchase.purchaseDate { return true }
        if case .value(.text(let reason)) = purchase.assertions.state(of: .transactionReason) {
            return reason == "RENEWAL"
        }
        guard index > 0, let accessEnd else { return false }
        let gap = purchase.purchaseDate.milliseconds - accessEnd.milliseconds
        return gap <= Continuity.renewalDelayMax
            || isInBillingRetry(before: purchase.purchaseDate, since: accessEnd)
    }

    /// Whether Apple was retrying the charge of a renewal just before an instant, for all it had
    /// said by then about access that ended at `accessEnd`.
    func isInBillingRetry(before instant: Instant, since accessEnd: Instant) -> Bool {
        guard instant.milliseconds - accessEnd.milliseconds <= Continuity.billingRetryMax else {
            return false
        }
        let from = accessEnd.milliseconds - Continuity.firstChargeLead
        var latest: (asOf: Instant, isRetry: Bool)?
        var sweep = Sweep(renewals)
        while sweep.advance(), let asOf = sweep.asOf, asOf < instant {
            guard asOf.milliseconds >= from else { continue }
            if let isRetry = sweep.saysRetry { latest = (asOf, isRetry) }
        }
        for notice in notifications where notice.asOf < instant && notice.asOf.milliseconds >= from
        {
            guard let status = notice.status, latest.map({ $0.asOf <= notice.asOf }) ?? true else {
                continue
            }
            latest = (notice.asOf, status == .billingRetry)
        }
        return latest?.isRetry ?? false
    }
}

extension Sweep {
    // Switching auto-renewal off ends the retries at once (app-store.md §G-22). Nil where silent.
    fileprivate var saysRetry: Bool? {
        if fresh(.autoRenewStatus) == .value(.integer(0)) { return false }
        switch fresh(.isInBillingRetryPeriod) {
        case .value(let value): return value == .boolean(true)
        case .none: return false
        case .unknown: return nil
        }
    }
}
