internal import Events
internal import Projections

/// The status of the subscription over time, from the access it gave and the way it ended.
extension KnownLife {
    /// A span of time with a single status.
    struct StatusSpan {
        let from: Instant
        // Nil: until something new is learned.
        let to: Instant?
        let status: SimulatedRenewalState.Status
    }

    /// The statuses from the first purchase on, without gaps.
    var statusSpans: [StatusSpan] {
        guard var end = periods.map(\.validFrom).min() else { return [] }
        var spans: [StatusSpan] = []
        for row in periods where row.validFrom < row.validTo {
            if end < row.validFrom { spans += gap(from: end, to: row.validFrom) }
            let start = row.kind == .grace ? row.validTo : active(from: row)
            if row.validFrom < start {
                spans.append(StatusSpan(from: row.validFrom, to: start, status: .gracePeriod))
            }
            if start < row.validTo {
                spans.append(StatusSpan(from: start, to: row.validTo, status: .active))
            }
            end = row.validTo
        }
        guard end > horizon else { return spans + gap(from: end, to: nil) }
        // Of the future, only the retry after a grace is known.
        let isGrace = periods.contains {
            $0.validTo == end && $0.kind == .grace && $0.endReason == .open
        }
        let next = isGrace ? gap(from: end, to: nil) : []
        return next.first?.status == .billingRetry ? spans + next : spans
    }

    // A renewal charged in grace begins with the grace; until Apple reported it there was grace.
    private func active(from row: SimulatedPeriod) -> Instant {
        let recovered = state.recoveredGraces.first {
            state.purchases[$0.purchase].purchaseDate == row.validFrom
                && row.purchaseDate == row.validFrom
        }
        guard let recovered else { return row.validFrom }
        return min(recovered.to, firstSigned[recovered.purchase], row.validTo)
    }

    // A time without access: revoked, or in retry until Apple or the customer gave up, or expired
    // (Apple's data: traps 19, 22).
    private func gap(from start: Instant, to end: Instant?) -> [StatusSpan] {
        let ended = periods.filter { $0.validTo == start }
        if ended.contains(where: { $0.endReason.isRevocation }) {
            return [StatusSpan(from: start, to: end, status: .revoked)]
        }
        let owners = Set(ended.map(\.purchaseDate))
        let retry = state.retries.last {
            owners.contains(state.purchases[$0.purchase].purchaseDate)
        }
        guard let retry else { return [StatusSpan(from: start, to: end, status: .expired)] }
        // Apple retries for sixty days after the expiry (Apple's data: trap 18), whether or not it
        // reports more.
        let expiry = state.purchases[retry.purchase].expiresDate
        let limit = expiry.advanced(by: LifeMachine.retryDuration)
        let stop = retry.end ?? limit
        if let end, end <= stop {
            return [StatusSpan(from: start, to: end, status: .billingRetry)]
        }
        guard stop > start else { return [StatusSpan(from: start, to: end, status: .expired)] }
        return [
            StatusSpan(from: start, to: stop, status: .billingRetry),
            StatusSpan(from: stop, to: end, status: .expired),
        ]
    }

    /// The states of the renewal switch as stated, in order, and whether buying turned it on.
    ///
    /// Buying turns it on; a statement from Apple at the same instant takes precedence.
    var switches: [(at: Instant, isOn: Bool, isFromPurchase: Bool)] {
        let bought = state.purchases.indices.map { number in
            (
                at: min(firstSigned[number], state.purchases[number].purchaseDate),
                isOn: true, isFromPurchase: true
            )
        }
        let stated = statements.map { ($0.signedAt, $0.state.isAutoRenewOn, false) }
        return (bought + stated).sorted { left, right in
            left.at != right.at ? left.at < right.at : left.isFromPurchase && !right.isFromPurchase
        }
    }

    // How the switch is set according to Apple since buying last turned it on; an "on" from before
    // the subscription expired says nothing about the time after.
    private func isStatedOn(at instant: Instant, after expiry: Instant?) -> Bool? {
        var stated: (at: Instant, isOn: Bool)?
        for change in switches where change.at <= instant {
            if !change.isFromPurchase {
                stated = (change.at, change.isOn)
            } else if stated?.isOn == false {
                stated = nil
            }
        }
        guard let stated else { return nil }
        if stated.isOn, let expiry, stated.at < expiry { return nil }
        return stated.isOn
    }

    /// The rows of `renewal_states`.
    package var states: [SimulatedRenewalState] {
        let switches = switches
        let announced = announcedCharges
        let charged = state.purchases.indices.dropFirst().map { number in
            (from: firstSigned[number], to: state.purchases[number].purchaseDate)
        }.filter { $0.from < $0.to }
        let changes = Set(
            switches.map(\.at) + statements.map(\.signedAt) + charged.flatMap { [$0.from, $0.to] }
        ).sorted()
        var rows: [SimulatedRenewalState] = []
        var expired: Instant?
        for span in statusSpans {
            if span.status == .expired { expired = span.from }
            let cause = cause(of: span)
            let inside = changes.filter { $0 > span.from && $0 < (span.to ?? .distantFuture) }
            let ends: [Instant?] = inside.map { $0 } + [span.to]
            for (from, to) in zip([span.from] + inside, ends) {
                let statement = statements.last { $0.signedAt <= from }?.state
                let isOn = switches.last { $0.at <= from }?.isOn
                let charge = charge(
                    in: span.status,
                    isAutoRenewOn: isOn,
                    isCharged: charged.contains { $0.from <= from && from < $0.to }
                )
                let next = charge == .closed ? nil : announced.last { $0.at <= from }
                let row = SimulatedRenewalState(
                    validFrom: from,
                    validTo: to,
                    status: span.status,
                    charge: charge,
                    isAutoRenewOn: isStatedOn(at: from, after: expired),
                    autoRenewProductId: statement?.renewalProduct?.id,
                    priceConsent: statement?.isPriceIncreaseAccepted.map {
                        $0 ? .accepted : .pending
                    },
                    cause: cause,
                    renewalPriceMilliunits: next?.price,
                    renewalSeats: next?.seats,
                    willUnbundle: next?.willUnbundle ?? false,
                    renewalOffer: next?.offer,
                    renewalBillingPlan: next?.billingPlan,
                    commitment: next?.commitment
                )
                rows.appendOrLengthen(row)
            }
        }
        return rows
    }

    // What Apple stated about the next charge, by when it did; an offer is used up by the charge it
    // is for, and what follows is unknown until Apple states it.
    private var announcedCharges: [AnnouncedCharge] {
        let stated = statements.map { AnnouncedCharge($0, identity) }
        var charges = stated
        for number in state.purchases.indices {
            let at = min(firstSigned[number], state.purchases[number].purchaseDate)
            guard !stated.contains(where: { $0.at == at }),
                stated.last(where: { $0.at < at })?.offer != nil
            else { continue }
            charges.append(AnnouncedCharge(at: at))
        }
        return charges.sorted { $0.at < $1.at }
    }

    // Apple states the cause with the end, except for a purchase whose refund was reversed later.
    private func cause(of span: StatusSpan) -> ExpiryCause? {
        switch span.status {
        case .billingRetry: return .billingRetry
        case .expired:
            let number = state.purchases.lastIndex { $0.purchaseDate < span.from }
            if let ending = state.endings.last(where: { $0.purchase == number }) {
                return ending.cause
            }
            // A retry that ended without news: the cause was stated with the failure.
            let isRetried = state.retries.contains { $0.purchase == number && $0.end == nil }
            return isRetried ? .billingRetry : nil
        case .active, .gracePeriod, .revoked: return nil
        }
    }

    // A renewal that was charged early has succeeded, even if the customer then turns it off.
    private func charge(
        in status: SimulatedRenewalState.Status,
        isAutoRenewOn: Bool?,
        isCharged: Bool
    ) -> SimulatedRenewalState.Charge {
        switch status {
        case .gracePeriod, .billingRetry: isAutoRenewOn == false ? .closed : .failed
        case .expired, .revoked: .closed
        case .active where isCharged: .succeeded
        case .active: isAutoRenewOn == false ? .closed : .waiting
        }
    }
}

/// What Apple stated about the next charge at an instant; members are nil if it stated nothing.
private struct AnnouncedCharge {
    let at: Instant
    var price: Int64?
    var seats: Int64?
    var willUnbundle = false
    var offer: SimulatedOffer?
    var billingPlan: SimulatedProduct.BillingPlan?
    var commitment: SimulatedCommitment?

    init(at: Instant) {
        self.at = at
    }

    init(_ statement: KnownLife.Statement, _ identity: LifeIdentity) {
        at = statement.signedAt
        let state = statement.state
        willUnbundle = state.willUnbundle
        commitment = SimulatedCommitment(after: state, of: identity)
        guard state.isAutoRenewOn, let newest = state.newest else { return }
        let product = state.renewalProduct ?? newest.product
        offer = state.coming?.offer
        billingPlan = product.billingPlan
        guard !identity.isMember else { return }
        seats = state.seats?.quantity
        price =
            state.seats.map {
                identity.storefront.seatTiers(of: product, $0.quantity).total
            } ?? identity.storefront.price(of: product, offer: offer)
    }
}

extension SimulatedPeriod.EndReason {
    // Whether access was taken back.
    fileprivate var isRevocation: Bool {
        switch self {
        case .refunded, .revoked, .assignmentEnded: true
        case .expired, .upgraded, .replaced, .open: false
        }
    }
}

extension Instant {
    // Later than anything that happens in a script.
    fileprivate static let distantFuture = Instant(milliseconds: .max)
}

extension [SimulatedRenewalState] {
    // Adds a row, or extends the last one if nothing changed.
    fileprivate mutating func appendOrLengthen(_ row: SimulatedRenewalState) {
        if var longer = last, longer.validTo == row.validFrom {
            longer.validTo = row.validTo
            var later = longer
            later.validFrom = row.validFrom
            if later == row {
                self[count - 1] = longer
                return
            }
        }
        append(row)
    }
}
