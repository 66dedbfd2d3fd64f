internal import Events
internal import Projections

/// The refunds that were requested, granted and reversed.
extension KnownLife {
    /// The rows of `refunds`, by start of the purchase, then by their first instant.
    package var refundCases: [SimulatedRefund] {
        let cases = state.refunds
        return cases.indices.sorted { left, right in
            let starts = [left, right].map { transaction(of: cases[$0]).purchaseDate }
            return (starts[0], cases[left].purchase, left)
                < (starts[1], cases[right].purchase, right)
        }.map { index in
            row(of: cases[index], isNet: isNet(index, among: cases))
        }
    }

    // Only refunds of seats are in force next to each other.
    private func isNet(_ index: Int, among cases: [LifeState.Refund]) -> Bool {
        guard cases[index].isRefund else { return false }
        if cases[index].reversedAt == nil { return true }
        return !cases.indices.contains { other in
            cases[other].isRefund && cases[other].purchase == cases[index].purchase
                && cases[other].addition == cases[index].addition
                && (other > index || cases[other].reversedAt == nil)
        }
    }

    private func row(of refund: LifeState.Refund, isNet: Bool) -> SimulatedRefund {
        let purchase = transaction(of: refund)
        let kind = kind(of: refund)
        let price = identity.isMember ? nil : purchase.price

        return SimulatedRefund(
            productId: purchase.product.id,
            purchaseDate: purchase.purchaseDate,
            expiresDate: purchase.expiresDate,
            kind: kind,
            percentage: percentage(of: refund, kind),
            reason: refund.revocation?.reason,
            timing: refund.revocation.map { timing(of: $0.date, purchase) },
            requested: refund.requestedAt,
            declined: refund.declinedAt,
            revoked: refund.revocation?.date,
            announced: refund.announcedAt,
            reversed: refund.reversedAt,
            reversal: refund.reversedAt.map { _ in
                refund.isReversalAnnounced ? .announced : .inferred
            },
            state: refund.outcome,
            isNet: isNet,
            priceMilliunits: price,
            seats: refund.seats,
            refundedMilliunits: refund.reversedAt == nil
                || refund.revocation?.isWithoutMoney == true ? amount(of: refund) : 0,
            currency: price.map { _ in identity.storefront.currency }
        )
    }

    // Apple has stated the kind since 2025-12, also for older refunds.
    private func kind(of refund: LifeState.Refund) -> SimulatedRefund.Kind? {
        if refund.seats != nil { return .seats }
        guard let revocation = refund.revocation else { return nil }
        switch revocation.cause {
        case .familySharing: return .familyRevoke
        case .assignment: return .assignmentEnded
        case .bundle: return .bundled
        case .refund: break
        }
        guard let stated = lastStatement(about: refund),
            stated >= PayloadContent.revocationTypeSince
        else { return .untyped }
        return revocation.percentage == nil ? .full : .prorated
    }

    // When Apple last signed the purchase while the case was open.
    private func lastStatement(about refund: LifeState.Refund) -> Instant? {
        let end = refund.reversedAt ?? Instant(milliseconds: .max)
        let subject: SeatTransaction =
            refund.addition.map { .addition($0) } ?? .purchase(refund.purchase)
        return chapters.flatMap { $0.instants(about: subject, from: source) }
            .filter { $0 < end }.max()
    }

    private func percentage(
        of refund: LifeState.Refund,
        _ kind: SimulatedRefund.Kind?
    ) -> Int64? {
        switch kind {
        case .full: 100_000
        case .prorated: refund.revocation?.percentage
        default: nil
        }
    }

    private func transaction(of refund: LifeState.Refund) -> LifeState.Purchase {
        state.transaction(refund.purchase, addition: refund.addition)
    }

    /// The refunded amount, whether it was reversed later or not; nil if nothing was refunded.
    func amount(of refund: LifeState.Refund) -> Int64? {
        let transaction = transaction(of: refund)
        // Seats that were refunded before are not refunded again.
        let before = transaction.seats?.amount(of: refund.seatsBefore) ?? 0
        let price = transaction.price - before
        switch kind(of: refund) {
        case .seats:
            // In sum exactly the whole, once all are taken back.
            return refund.seats.flatMap { transaction.seats?.amount(of: refund.seatsBefore + $0) }
                .map { $0 - before }
        case .prorated: return (price * (refund.revocation?.percentage ?? 0) + 50_000) / 100_000
        case .full, .untyped: return price
        default: return nil
        }
    }

    private func timing(
        of date: Instant,
        _ purchase: LifeState.Purchase
    ) -> SimulatedRefund.Timing {
        let end = min(purchase.expiresDate, purchase.successor?.start ?? purchase.expiresDate)
        if date < end { return .current }
        return periods.contains { $0.validFrom <= date && date < $0.validTo }
            ? .older : .afterExpiry
    }
}

extension LifeState.Revocation {
    // Whether access was taken back and no money refunded.
    fileprivate var isWithoutMoney: Bool { cause != .refund }
}

extension LifeState.Refund {
    /// When seats were taken back: Apple states no date but that of its signature.
    var seatsRefundedAt: Instant? { seats == nil ? nil : announcedAt }

    /// Whether anything was taken back.
    fileprivate var isRefund: Bool { revocation != nil || seats != nil }

    fileprivate var outcome: SimulatedRefund.State {
        if declinedAt != nil { return .declined }
        if !isRefund { return .requested }
        guard reversedAt == nil else { return .reversed }
        switch revocation?.cause {
        case .familySharing, .assignment, .bundle: return .revoked
        case .refund, nil: return .refunded
        }
    }
}

extension SubscriptionLife.Chapter {
    /// When Apple signs a purchase: in notifications about it, when a device restores it, and in
    /// the answer to a poll, which contains all purchases.
    func instants(about subject: SeatTransaction, from source: DeliverySource) -> [Instant] {
        if case .restore = step, case .purchase = subject, source != .polls { return [signedAt] }
        if isSilent || source != .unasked { return signingInstants }
        return notices.indices.compactMap { number in
            switch (notices[number].subject, subject) {
            case (.purchase(let stated), .purchase(let wanted)) where stated == wanted: break
            case (.addition(let stated), .addition(let wanted)) where stated == wanted: break
            default: return nil
            }
            return SubscriptionLife.signedAt(self, notice: number)
        }
    }
}
