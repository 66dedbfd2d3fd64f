internal import Events
internal import Projections

/// The products that the customer changed between, and the requests that had no effect.
extension KnownLife {
    /// The rows of `plan_changes`.
    package var planChanges: [SimulatedPlanChange] {
        let (rows, requested) = requests
        let facts = state.purchases.indices.dropFirst().compactMap { number in
            fact(number, requested: requested[number])
        }
        return (facts + rows).sorted { left, right in
            let (one, other) = (
                left.requested ?? left.effective, right.requested ?? right.effective
            )
            if let one, let other, one != other { return one < other }
            return (left.fromProductId, left.toProductId) < (right.fromProductId, right.toProductId)
        }
    }

    /// Whether a purchase continues where the one before it stopped, without a lapse.
    ///
    /// Renewals always do, even one that was recovered in retry (Apple's data: trap 19).
    func isContinuing(_ number: Int) -> Bool {
        let purchase = state.purchases[number]
        let before = periods.last { $0.validFrom < purchase.purchaseDate }
        return purchase.isRenewal || before.map { $0.validTo >= purchase.purchaseDate } ?? false
    }

    private func fact(_ number: Int, requested: Instant?) -> SimulatedPlanChange? {
        let (old, new) = (state.purchases[number - 1], state.purchases[number])
        guard old.product != new.product else { return nil }
        let start = new.purchaseDate
        let isTakenBack = state.revocation(ofPeriod: number - 1).map { $0.date < start } ?? false
        let timing: SimulatedPlanChange.Timing =
            start < old.expiresDate && !isTakenBack
            ? .now : isContinuing(number) ? .nextRenewal : .resubscribe
        let (from, to) = (old.product, new.product)
        var row = SimulatedPlanChange(from: from, to: to, .effective, timing, new.offer?.category)
        (row.requested, row.effective) = (requested, start)
        row.refundsPrevious = timing == .now && old.price != 0 && !identity.isMember
        return row
    }

    // Whether the subscription has ended, as far as is known.
    private var isOver: Bool {
        switch state.phase {
        case .expired, .revoked: true
        default: false
        }
    }

    // The requests without effect, by the steps of the script; and when the others were made, by the
    // purchase that they led to.
    private var requests: (rows: [SimulatedPlanChange], requested: [Int: Instant]) {
        var rows: [SimulatedPlanChange] = []
        var requested: [Int: Instant] = [:]
        // Only the last request can be pending.
        func end(_ state: SimulatedPlanChange.State, at withdrawn: Instant? = nil) {
            guard let last = rows.indices.last, rows[last].state == .requested else { return }
            (rows[last].state, rows[last].withdrawn) = (state, withdrawn)
        }
        func carryOut(by purchase: Int) {
            guard let last = rows.last, last.state == .requested else { return }
            requested[purchase] = last.requested
            rows.removeLast()
        }
        for chapter in chapters {
            let newest = chapter.state.purchases.count - 1
            switch chapter.step {
            case .changeAtRenewal(let product, let offer, _):
                end(.withdrawn, at: chapter.signedAt)
                guard let old = chapter.state.newest?.product, product != old else { break }
                rows.append(
                    SimulatedPlanChange(
                        from: old,
                        to: product,
                        .requested,
                        .nextRenewal,
                        offer?.category,
                        requested: chapter.signedAt
                    )
                )
            case .changeNow: end(.withdrawn, at: chapter.signedAt)
            case .renew, .recover: carryOut(by: newest)
            case .subscribe:
                // A refund that was reversed later has not ended anything.
                if !isContinuing(newest) {
                    end(.lapsed)
                } else if rows.last?.toProductId == chapter.state.newest?.product.id {
                    carryOut(by: newest)
                } else {
                    end(.withdrawn, at: chapter.signedAt)
                }
            case .expire, .giveUp: end(.lapsed)
            case .turnAutoRenewOff:
                if case .expired = chapter.state.phase { end(.lapsed) }
            default: break
            }
        }
        if isOver { end(.lapsed) }
        return (rows, requested)
    }
}

extension SimulatedProduct {
    /// The class of a change from another product of the group to this one.
    func change(from other: SimulatedProduct) -> SimulatedPlanChange.Class {
        if level == other.level { return .crossgrade }
        return level < other.level ? .upgrade : .downgrade
    }
}
