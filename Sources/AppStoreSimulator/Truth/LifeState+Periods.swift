internal import Events
internal import Projections

/// What a customer really had, computed from what happened and never from payloads.
extension LifeState {
    /// The rows of the stream for a reader whose newest payload was signed at the horizon.
    ///
    /// Only the last row can be open: everything before it has ended in the way the script states.
    func periods(
        horizon: Instant,
        of ownership: LifeIdentity.Ownership
    ) -> [SimulatedPeriod] {
        var rows = purchases.indices.map { row(ofPeriod: $0, ownership) }
        for grace in graces where grace.from < grace.to {
            let purchase = purchases[grace.purchase]
            rows.append(
                SimulatedPeriod(
                    productId: purchase.product.id,
                    purchaseDate: purchase.purchaseDate,
                    expiresDate: purchase.expiresDate,
                    validFrom: grace.from,
                    validTo: grace.to,
                    kind: .grace,
                    endReason: .expired
                )
            )
        }
        rows.sort()
        let end = rows.map(\.validTo).max()
        return rows.map { row in
            guard row.validTo == end, row.endReason == .expired, horizon < row.validTo else {
                return row
            }
            return row.ending(at: row.validTo, .open)
        }
    }

    private func row(
        ofPeriod number: Int,
        _ ownership: LifeIdentity.Ownership
    ) -> SimulatedPeriod {
        let purchase = purchases[number]
        let whole = SimulatedPeriod(
            productId: purchase.product.id,
            purchaseDate: purchase.purchaseDate,
            expiresDate: purchase.expiresDate,
            validFrom: purchase.purchaseDate,
            validTo: purchase.expiresDate,
            kind: kind(of: purchase, ownership),
            endReason: .expired
        )
        let replaced = purchase.successor.map { successor in
            whole.ending(
                at: successor.start,
                successor.productId == purchase.product.id ? .replaced : .upgraded
            )
        }
        let result = replaced ?? whole
        guard let revocation = revocation(ofPeriod: number), revocation.date < result.validTo else {
            return result
        }
        return result.ending(at: max(result.validFrom, revocation.date), revocation.cause.endReason)
    }

    // For a member, who pays counts more than the terms.
    private func kind(
        of purchase: Purchase,
        _ ownership: LifeIdentity.Ownership
    ) -> SimulatedPeriod.Kind {
        switch ownership {
        case .purchased: break
        case .familyShared: return .family
        case .assigned: return .assigned
        }
        guard let offer = purchase.offer else { return .paid }
        guard offer.category == .introductory else { return .offer }
        return purchase.isTrial ? .trial : .intro
    }
}

extension LifeState.Revocation.Cause {
    // A subscription that moved to a bundle was replaced.
    fileprivate var endReason: SimulatedPeriod.EndReason {
        switch self {
        case .refund: .refunded
        case .familySharing: .revoked
        case .assignment: .assignmentEnded
        case .bundle: .upgraded
        }
    }
}

extension SimulatedPeriod {
    fileprivate func ending(at end: Instant, _ reason: EndReason) -> SimulatedPeriod {
        var period = self
        (period.validTo, period.endReason) = (end, reason)
        return period
    }
}
