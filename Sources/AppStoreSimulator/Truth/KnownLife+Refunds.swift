internal import Events

/// The refunds that were requested, granted and reversed.
extension KnownLife {
    /// The rows of `refunds`, by start of the purchase, then by their first instant.
    var refundCases: [SimulatedRefund] {
        let cases = state.refunds
        return cases.indices.sorted { left, right in
            (cases[left].purchase, left) < (cases[right].purchase, right)
        }.map { index in
            let isNet =
                cases[index].revocation != nil
                && !cases[(index + 1)...].contains {
                    $0.purchase == cases[index].purchase && $0.revocation != nil
                }
            return row(of: cases[index], isNet: isNet)
        }
    }

    private func row(of refund: LifeState.Refund, isNet: Bool) -> SimulatedRefund {
        let purchase = state.purchases[refund.purchase]
        let kind = kind(of: refund)
        let price = identity.isFamilyShared ? nil : purchase.price
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
            refundedMilliunits: refund.reversedAt == nil ? amount(of: refund) : 0,
            currency: price.map { _ in identity.storefront.currency }
        )
    }

    // Apple has stated the kind since 2025-12, also for older refunds.
    private func kind(of refund: LifeState.Refund) -> SimulatedRefund.Kind? {
        guard let revocation = refund.revocation else { return nil }
        if revocation.isFamily { return .familyRevoke }
        guard let stated = lastStatement(about: refund),
            stated >= PayloadContent.revocationTypeSince
        else { return .untyped }
        return revocation.percentage == nil ? .full : .prorated
    }

    // When Apple last signed the purchase while the case was open.
    private func lastStatement(about refund: LifeState.Refund) -> Instant? {
        let end = refund.reversedAt ?? Instant(milliseconds: .max)
        return chapters.flatMap { $0.instants(about: refund.purchase, from: source) }
            .filter { $0 < end }.max()
    }

    private func percentage(
        of refund: LifeState.Refund,
        _ kind: SimulatedRefund.Kind?
    ) -> Int64? {
        switch kind {
        case .full: 100_000
        case .prorated: refund.revocation?.percentage
        case .familyRevoke, .untyped, nil: nil
        }
    }

    /// The refunded amount, whether it was reversed later or not; nil if nothing was refunded.
    func amount(of refund: LifeState.Refund) -> Int64? {
        let price = state.purchases[refund.purchase].price
        switch kind(of: refund) {
        case nil: return nil
        case .familyRevoke: return 0
        case .prorated: return (price * (refund.revocation?.percentage ?? 0) + 50_000) / 100_000
        case .full, .untyped: return price
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

extension LifeState.Refund {
    fileprivate var outcome: SimulatedRefund.State {
        if declinedAt != nil { return .declined }
        if revocation == nil { return .requested }
        return reversedAt == nil ? .refunded : .reversed
    }
}

extension SubscriptionLife.Chapter {
    /// When Apple signs a purchase: in notifications about it, when a device restores it, and in
    /// the answer to a poll, which contains all purchases.
    func instants(about purchase: Int, from source: DeliverySource) -> [Instant] {
        if case .restore = step, source != .polls { return [signedAt] }
        if isSilent || source != .unasked { return signingInstants }
        return notices.indices.compactMap { number in
            guard case .purchase(purchase) = notices[number].subject else { return nil }
            return SubscriptionLife.signedAt(self, notice: number)
        }
    }
}
