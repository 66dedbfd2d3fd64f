package import Events

/// What was known about the next renewal at one as-of.
package struct RenewalSnapshot: Sendable {
    /// Apple's date for the statement.
    package let asOf: Instant
    /// The date of the renewal according to this snapshot, in whole seconds.
    ///
    /// It is the expiry of the purchase that the snapshot is about. Nil in snapshots from before
    /// 2023-06, which do not contain it.
    package let renewalDate: Instant?
    /// The end of the billing grace period according to this snapshot: a value, none, or unknown if
    /// not stated.
    package let gracePeriodExpiresDate: Knowledge.State
    /// The offset of the event that decides the grace period; nil if not stated.
    package let gracePeriodOffset: Int64?
    /// 0 off, 1 on, as known at this as-of; nil if it was never stated.
    package let autoRenewStatus: Int64?
    /// The offset of the event that decides the status.
    package let autoRenewStatusOffset: Int64?

    init(_ sweep: Sweep, asOf: Instant) {
        self.asOf = asOf
        if case .value(.instant(let date)) = sweep.fresh(.renewalDate) {
            renewalDate = date.flooredToSecond
        } else {
            renewalDate = nil
        }
        gracePeriodExpiresDate = sweep.fresh(.gracePeriodExpiresDate)
        gracePeriodOffset =
            gracePeriodExpiresDate == .unknown ? nil : sweep.decider(of: .gracePeriodExpiresDate)
        if case .value(.integer(let status)) = sweep.state(of: .autoRenewStatus) {
            autoRenewStatus = status
        } else {
            autoRenewStatus = nil
        }
        autoRenewStatusOffset = sweep.decider(of: .autoRenewStatus)
    }
}

extension Timeline {
    private static let snapshotsKey = FoldMemo.Key<[RenewalSnapshot]>()

    /// What was known about the next renewal, at each as-of of a statement by Apple.
    package var renewalSnapshots: [RenewalSnapshot] {
        once(Timeline.snapshotsKey) { foldedRenewalSnapshots }
    }

    private var foldedRenewalSnapshots: [RenewalSnapshot] {
        var snapshots: [RenewalSnapshot] = []
        snapshots.reserveCapacity(renewals.sorted.count)
        var sweep = Sweep(renewals)
        while sweep.advance() {
            guard let asOf = sweep.asOf else { break }
            snapshots.append(RenewalSnapshot(sweep, asOf: asOf))
        }
        return snapshots
    }
}
