internal import Events
internal import Projections

/// The meaning of each purchase in the subscription.
extension KnownLife {
    /// The rows of `transactions`, by start.
    package var transactions: [SimulatedTransaction] {
        var rows: [SimulatedTransaction] = []
        for number in state.purchases.indices {
            rows.append(row(of: number, after: rows.last))
        }
        let additions = state.additions.indices.map { number in
            row(ofAddition: number, in: rows[state.additions[number].period])
        }
        return (rows + additions).sorted {
            ($0.startTime, $0.storeTransactionId) < ($1.startTime, $1.storeTransactionId)
        }
    }

    // A further transaction of a period: neither a renewal nor a change.
    private func row(
        ofAddition number: Int,
        in period: SimulatedTransaction
    ) -> SimulatedTransaction {
        let periodNumber = state.additions[number].period
        let purchase = state.purchase(of: state.additions[number])
        var row = period
        row.storeTransactionId = identity.transactionId(purchase.transactionNumber)
        row.startTime = purchase.purchaseDate
        row.effectiveEndTime = effectiveEnd(of: purchase, in: periodNumber)
        (row.isTrialConversion, row.isResubscribe) = (false, false)
        (row.gapSeconds, row.planChange, row.previousProductId) = (nil, nil, nil)
        row.refundedAt = refundedAt(periodNumber, number)
        row.purchasePriceMilliunits = purchase.price
        row.priceMilliunits = purchase.price - refunded(of: periodNumber, number)
        row.seats = SimulatedTransaction.Seats(purchase.seats)
        return row
    }

    private func row(of number: Int, after before: SimulatedTransaction?) -> SimulatedTransaction {
        let purchase = state.purchases[number]
        let previous = number > 0 ? state.purchases[number - 1] : nil
        let isContinuing = number > 0 && self.isContinuing(number)
        let chain = isContinuing ? before : nil
        let isPaid = !identity.isMember && purchase.price > 0
        let changed = previous.flatMap { $0.product == purchase.product ? nil : $0.product }
        let price = identity.isMember ? nil : purchase.price
        let grace = graceEnd(after: purchase)

        return SimulatedTransaction(
            storeTransactionId: identity.transactionId(purchase.transactionNumber),
            productId: purchase.product.id,
            startTime: purchase.purchaseDate,
            endTime: purchase.expiresDate,
            gracePeriodEndTime: grace,
            effectiveEndTime: effectiveEnd(of: purchase, in: number),
            renewalNumber: (chain?.renewalNumber ?? 0) + 1,
            consecutivePaidPeriods: isPaid ? paidPeriods(before: number) + 1 : 0,
            isTrialConversion: isContinuing && previous?.isFreeTrial == true
                && !purchase.isFreeTrial,
            isResubscribe: number > 0 && !isContinuing,
            gapSeconds: number > 0 && !isContinuing ? gapSeconds(before: purchase) : nil,
            planChange: changed.map { purchase.product.change(from: $0) },
            previousProductId: changed?.id,
            refundedAt: refundedAt(number),
            purchasePriceMilliunits: price,
            priceMilliunits: price.map { $0 - refunded(of: number) },
            unsubscribeDetectedAt: unsubscribed(number),
            billingIssuesDetectedAt: billingFailed(after: number),
            seats: SimulatedTransaction.Seats(purchase.seats)
        )
    }

    // Free periods inside a chain are not counted and do not break it.
    private func paidPeriods(before number: Int) -> Int {
        var count = 0
        var next = number
        while next > 0, isContinuing(next) {
            next -= 1
            if state.purchases[next].price > 0 { count += 1 }
        }
        return count
    }

    // A transaction that was revoked ends then, even if its period goes on.
    private func effectiveEnd(
        of transaction: LifeState.Purchase,
        in number: Int
    ) -> Instant {
        let end = graceEnd(after: state.purchases[number]) ?? accessEnd(ofPeriod: number)
        guard !state.additions(to: number).isEmpty, let date = transaction.revocation?.date else {
            return end
        }
        return max(transaction.purchaseDate, min(end, date))
    }

    private func accessEnd(ofPeriod number: Int) -> Instant {
        let purchase = state.purchases[number]
        let end = min(purchase.expiresDate, purchase.successor?.start ?? purchase.expiresDate)
        return max(purchase.purchaseDate, min(end, state.revocation(ofPeriod: number)?.date ?? end))
    }

    private func graceEnd(after purchase: LifeState.Purchase) -> Instant? {
        // Two purchases may begin in the same second: the upgraded one has no grace.
        periods.first { period in
            period.kind == .grace && period.purchaseDate == purchase.purchaseDate
                && period.productId == purchase.product.id
        }?.validTo
    }

    private func gapSeconds(before purchase: LifeState.Purchase) -> Int64? {
        periods.last { $0.validFrom < purchase.purchaseDate }.map {
            (purchase.purchaseDate.milliseconds - $0.validTo.milliseconds)
                / SimulatedCalendar.second
        }
    }

    private func refunded(of number: Int, _ addition: Int? = nil) -> Int64 {
        let refunds = state.refunds.filter { $0.purchase == number && $0.addition == addition }
        let whole = refunds.last { $0.revocation != nil && $0.reversedAt == nil }
        let parts = refunds.filter { $0.seats != nil } + (whole.map { [$0] } ?? [])
        return parts.reduce(0) { $0 + (amount(of: $1) ?? 0) }
    }

    // The last refund that is in force: of the whole transaction, or of seats of it.
    private func refundedAt(_ number: Int, _ addition: Int? = nil) -> Instant? {
        state.refunds.filter { refund in
            refund.purchase == number && refund.addition == addition && refund.reversedAt == nil
                && refund.revocation?.cause.isRefund ?? true
        }.compactMap { $0.revocation?.date ?? $0.seatsRefundedAt }.max()
    }

    // When Apple first signed that renewal is off, if it was still off when the purchase ended.
    private func unsubscribed(_ number: Int) -> Instant? {
        let end = state.purchases[number].expiresDate
        // Buying before the end turns renewal on again; later switches concern the new purchase.
        guard state.purchases[number].successor == nil else { return nil }
        var detected: Instant?
        for statement in statements
        where statement.state.purchases.count == number + 1 && statement.signedAt <= end {
            if statement.state.isAutoRenewOn {
                detected = nil
            } else if detected == nil {
                detected = statement.signedAt
            }
        }
        return detected
    }

    private func billingFailed(after number: Int) -> Instant? {
        chapters.first { chapter in
            guard case .failToRenew = chapter.step else { return false }
            return chapter.state.purchases.count == number + 1
        }?.signedAt
    }
}

extension LifeState.Revocation.Cause {
    // Whether the column for refunds states it: family sharing withdrawn, too.
    fileprivate var isRefund: Bool {
        switch self {
        case .refund, .familySharing: true
        case .assignment, .bundle: false
        }
    }
}

extension SimulatedTransaction.Seats {
    // Nil for a purchase for one customer.
    fileprivate init?(_ seats: LifeState.Seats?) {
        guard let seats else { return nil }
        self.init(quantity: seats.tiers.quantity, revoked: seats.revoked)
    }
}
