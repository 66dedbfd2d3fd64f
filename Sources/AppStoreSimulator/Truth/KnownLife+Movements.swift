internal import Events
internal import Projections

/// The movements that count in the books of a business.
extension KnownLife {
    /// The rows of `movements`, by instant, then by kind.
    package var movements: [SimulatedMovement] {
        let rows =
            acquisitions + additionMovements + statusMovements + refundMovements
            + extensionMovements + switchMovements + requestMovements
        return rows.sorted { left, right in
            (left.occurred, left.kind.rank, left.purchaseDate)
                < (right.occurred, right.kind.rank, right.purchaseDate)
        }
    }

    // One for every purchase, and one for the product it replaces.
    private var acquisitions: [SimulatedMovement] {
        state.purchases.indices.flatMap { number -> [SimulatedMovement] in
            let purchase = state.purchases[number]
            let previous = number > 0 ? state.purchases[number - 1] : nil
            let isContinuing = number > 0 && self.isContinuing(number)
            let changed = previous.flatMap { $0.product == purchase.product ? nil : $0.product.id }
            let acquisition = row(
                kind(of: purchase, after: isContinuing ? previous : nil),
                at: purchase.purchaseDate,
                about: number,
                previous: changed,
                amount: identity.isMember ? 0 : purchase.price,
                isResubscribe: number > 0 && !isContinuing
            )
            guard isContinuing, changed != nil else { return [acquisition] }
            return [
                acquisition,
                row(.exitPlanChange, at: purchase.purchaseDate, about: number - 1),
            ]
        }
    }

    // `previous` is nil if the purchase does not continue another.
    private func kind(
        of purchase: LifeState.Purchase,
        after previous: LifeState.Purchase?
    ) -> SimulatedMovement.Kind {
        guard let previous else { return purchase.offer == nil ? .paidStart : .offerStart }
        guard let offer = purchase.offer else {
            return previous.offer == nil ? .renewal : .conversion
        }
        let isSame =
            previous.offer?.category == offer.category
            && previous.offer?.identifier == offer.identifier
            && previous.product == purchase.product
        return isSame ? .offerRenewal : .offerStart
    }

    private var statusMovements: [SimulatedMovement] {
        let spans = statusSpans
        return zip(spans, spans.dropFirst()).flatMap { before, after -> [SimulatedMovement] in
            let number = state.purchases.lastIndex { $0.purchaseDate < after.from } ?? 0
            switch (before.status, after.status) {
            // A running grace may still be paid.
            case (.gracePeriod, .billingRetry) where after.from > horizon: return []
            case (.active, .gracePeriod), (.active, .billingRetry), (.gracePeriod, .billingRetry):
                return [row(.billingIssueEntered, at: after.from, about: number)]
            case (.gracePeriod, .active), (.billingRetry, .active):
                // Only a renewal ends a failed charge.
                let recovered = state.purchases.lastIndex { $0.purchaseDate == after.from }
                return [row(.billingIssueRecovered, at: after.from, about: recovered ?? number)]
            // Sixty days without news end a retry, but are booked only once they are over.
            // A move to a bundle is a change of plan.
            case (_, .expired) where state.purchases[number].revocation?.cause == .bundle: return []
            case (_, .expired) where after.from <= horizon:
                return [row(churn(after: number, at: after.from), at: after.from, about: number)]
            default: return []
            }
        }
    }

    // A purchase whose refund was reversed only after it ran out ended without a notification; only
    // the renewal switch at that time shows how.
    private func churn(after purchase: Int, at end: Instant) -> SimulatedMovement.Kind {
        switch state.endings.last(where: { $0.purchase == purchase })?.cause {
        case .billingRetry: .churnInvoluntary
        case .voluntary: .churnVoluntary
        case .priceIncrease: .churnPriceIncrease
        case .productNotForSale: .churnProductUnavailable
        case .other: .churnUnknown
        case .unbundled: .churnVoluntary
        case nil:
            switches.last { $0.at < end }?.isOn == false ? .churnVoluntary : .churnUnknown
        }
    }

    private var refundMovements: [SimulatedMovement] {
        state.refunds.filter(endsSomething).flatMap { refund -> [SimulatedMovement] in
            let number = refund.purchase
            let amount = amount(of: refund) ?? 0
            let steps: [(SimulatedMovement.Kind, Instant?, Int64?)] = [
                (.refundRequested, refund.requestedAt, nil),
                (.refundDeclined, refund.declinedAt, nil),
                (
                    kind(ofEnd: refund), refund.revocation?.date ?? refund.seatsRefundedAt,
                    refund.revocation?.cause == .bundle ? nil : -amount
                ),
                (.refundReversed, refund.reversedAt, amount),
            ]
            return steps.compactMap { kind, at, amount in
                at.map {
                    row(kind, at: $0, about: number, addition: refund.addition, amount: amount)
                }
            }
        }
    }

    // Where no money moves, a period of several transactions ends once, with the last of them.
    private func endsSomething(_ refund: LifeState.Refund) -> Bool {
        guard let cause = refund.revocation?.cause, cause != .refund else { return true }
        let transactions: [(addition: Int?, end: Instant?)] =
            [(nil, state.purchases[refund.purchase].revocation?.date)]
            + state.additions(to: refund.purchase).map {
                ($0, state.additions[$0].purchase.revocation?.date)
            }
        let last = transactions.compactMap(\.end).max()
        return transactions.first { $0.end == last }.map { $0.addition == refund.addition } ?? true
    }

    private func kind(ofEnd refund: LifeState.Refund) -> SimulatedMovement.Kind {
        switch refund.revocation?.cause {
        case .familySharing: .familyRevoke
        case .assignment: .assignmentEnded
        case .bundle: .exitPlanChange
        case .refund, nil: .exitRefund
        }
    }

    private var additionMovements: [SimulatedMovement] {
        state.additions.indices.map { number in
            let addition = state.additions[number]
            return row(
                .seatsAdded,
                at: addition.purchase.purchaseDate,
                about: addition.period,
                addition: number,
                amount: addition.purchase.price
            )
        }
    }

    private var extensionMovements: [SimulatedMovement] {
        state.extensions.map { row(.extension, at: $0.signedAt, about: $0.purchase) }
    }

    // Buying also turns renewal on, but that is part of the purchase.
    private var switchMovements: [SimulatedMovement] {
        let switches = switches
        return zip(switches, switches.dropFirst()).compactMap { before, after in
            guard before.isOn != after.isOn, !after.isFromPurchase else { return nil }
            let number = state.purchases.lastIndex { $0.purchaseDate <= after.at } ?? 0
            return row(after.isOn ? .autoRenewOn : .autoRenewOff, at: after.at, about: number)
        }
    }

    private var requestMovements: [SimulatedMovement] {
        planChanges.flatMap { change -> [SimulatedMovement] in
            let steps: [(SimulatedMovement.Kind, Instant?)] = [
                (.planChangeScheduled, change.requested),
                (.planChangeCancelled, change.withdrawn),
            ]
            return steps.compactMap { kind, at in
                at.map { at in
                    let number = state.purchases.lastIndex { $0.purchaseDate <= at } ?? 0
                    return row(
                        kind,
                        at: at,
                        about: number,
                        product: change.toProductId,
                        previous: change.fromProductId
                    )
                }
            }
        }
    }

    private func row(
        _ kind: SimulatedMovement.Kind,
        at instant: Instant,
        about number: Int,
        product: String? = nil,
        previous: String? = nil,
        addition: Int? = nil,
        amount: Int64? = nil,
        isResubscribe: Bool = false
    ) -> SimulatedMovement {
        let purchase = state.transaction(number, addition: addition)
        return SimulatedMovement(
            kind: kind,
            occurred: instant,
            productId: product ?? purchase.product.id,
            previousProductId: previous,
            purchaseDate: purchase.purchaseDate,
            expiresDate: purchase.expiresDate,
            amountMilliunits: amount,
            isResubscribe: isResubscribe
        )
    }
}

extension SimulatedMovement.Kind {
    // The promised order at one instant, stated here again, because the folds are tested against it.
    private static let order: [Self] = [
        .offerStart, .paidStart, .offerRenewal, .conversion, .renewal, .seatsAdded,
        .oneTimePurchase, .exitPlanChange, .billingIssueEntered, .billingIssueRecovered,
        .churnVoluntary, .churnInvoluntary, .churnPriceIncrease, .churnProductUnavailable,
        .churnUnknown, .exitRefund, .familyRevoke, .assignmentEnded, .refundReversed,
        .refundRequested, .refundDeclined, .extension, .autoRenewOff, .autoRenewOn,
        .planChangeScheduled, .planChangeCancelled,
    ]

    fileprivate var rank: Int { Self.order.firstIndex(of: self) ?? Self.order.count }
}
